// Between two linear layers there are 8-bit rows with a scale each and, where a residual needs them, the same rows in
// fp32; nothing is padded, and a text's numbers do not depend on the texts beside it.
#include "families/bert_packed.h"

#include <cmath>
#include <utility>

#include "packed_weights/linear_q8.h"

namespace weir::families {
namespace {

using onnx::ElementType;

/// A layer's input: fp32 for the residual, and what linear layers read.
struct Rows {
  std::string values;
  std::string bytes;
  std::string scales;
};

const char* activation_attribute(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return "gelu_erf";
    case Activation::kGeluTanh:
      return "gelu_tanh";
    case Activation::kRelu:
      return "relu";
    case Activation::kSilu:
      return "silu";
  }
  return "none";
}

/// Adds one model to one graph; the first failure sticks, and what follows adds nothing.
class PackedBuilder {
 public:
  PackedBuilder(const BertConfig& config, Weights& weights, onnx::GraphBuilder& graph)
      : config_(config),
        weights_(weights),
        graph_(graph),
        hidden_(config.facts.hidden_size),
        prefix_(bert_prefix(weights)) {}

  Status build(const PackedForm& form) {
    Rows rows = embeddings();
    for (std::uint32_t layer = 0; layer < config_.facts.layers && status_.ok(); ++layer) {
      rows = encoder(rows, layer);
    }
    graph_.weir_node("PackedPooling", {rows.values, kOffsets}, {kSentenceEmbedding},
                     {{"pooling", form.pooling}, {"normalize", std::int64_t{0}}});
    graph_.output(kSentenceEmbedding, ElementType::kFloat, {"texts", static_cast<std::int64_t>(hidden_)});
    if (status_.ok()) status_ = check_bert_left_over(weights_, prefix_);
    return status_;
  }

 private:
  Rows embeddings() {
    const bool has_types = config_.token_types > 0;
    graph_.input(kInputIds, ElementType::kInt64, {"tokens"});
    if (has_types) graph_.input(kTokenTypeIds, ElementType::kInt64, {"tokens"});
    graph_.input(kOffsets, ElementType::kInt64, {"boundaries"});
    const std::string words = table("embeddings.word_embeddings.weight", config_.facts.vocabulary_size);
    const std::string positions = table("embeddings.position_embeddings.weight", config_.facts.max_positions);
    const std::string types =
        has_types ? table("embeddings.token_type_embeddings.weight", config_.token_types) : std::string();
    const auto [gamma, beta] = norm("embeddings.LayerNorm");
    Rows rows{"embeddings", "embeddings.rows", "embeddings.scales"};
    graph_.weir_node("PackedEmbedding",
                     {kInputIds, has_types ? kTokenTypeIds : "", kOffsets, words, positions, types, gamma, beta},
                     {rows.values, rows.bytes, rows.scales},
                     {{"epsilon", config_.layer_norm_epsilon}, {"first_position", std::int64_t{0}}});
    return rows;
  }

  Rows encoder(const Rows& input, std::uint32_t layer) {
    const std::string name = "encoder.layer." + std::to_string(layer) + ".";
    const Rows context = attention(input, name + "attention.self");
    const Rows middle = residual_norm(name + "attention.output", context, input.values, {hidden_, hidden_}, true);
    const Rows wide = intermediate(middle, name + "intermediate.dense");
    const bool last = layer + 1 == config_.facts.layers;
    return residual_norm(name + "output", wide, middle.values, {config_.intermediate_size, hidden_}, !last);
  }

  Rows attention(const Rows& input, const std::string& name) {
    const std::string weights = packed(name, {name + ".query", name + ".key", name + ".value"}, {hidden_, hidden_});
    graph_.weir_node("LinearQ8", {input.bytes, input.scales, weights}, {name + ".query_key_value"},
                     {{"activation", std::string("none")}, {"quantize", std::int64_t{0}}});
    Rows context{{}, name + ".rows", name + ".scales"};
    const std::size_t head_size = hidden_ / config_.heads;
    graph_.weir_node("PackedAttention", {name + ".query_key_value", kOffsets}, {context.bytes, context.scales},
                     {{"heads", static_cast<std::int64_t>(config_.heads)},
                      {"scale", 1.0f / std::sqrt(static_cast<float>(head_size))},
                      {"precision", std::string("fp32")}});
    return context;
  }

  Rows intermediate(const Rows& input, const std::string& name) {
    const std::string weights = packed(name, {name}, {hidden_, config_.intermediate_size});
    Rows wide{{}, name + ".rows", name + ".scales"};
    graph_.weir_node(
        "LinearQ8", {input.bytes, input.scales, weights}, {"", wide.bytes, wide.scales},
        {{"activation", std::string(activation_attribute(config_.activation))}, {"quantize", std::int64_t{1}}});
    return wide;
  }

  struct Sizes {
    std::size_t inputs;
    std::size_t channels;
  };

  Rows residual_norm(const std::string& name, const Rows& input, const std::string& residual, Sizes sizes,
                     bool quantize) {
    const std::string weights = packed(name + ".dense", {name + ".dense"}, sizes);
    const auto [gamma, beta] = norm(name + ".LayerNorm");
    Rows rows{name, name + ".rows", name + ".scales"};
    std::vector<std::string> outputs = {rows.values};
    if (quantize) outputs.insert(outputs.end(), {rows.bytes, rows.scales});
    graph_.weir_node("LinearQ8ResidualNorm", {input.bytes, input.scales, residual, weights, gamma, beta}, outputs,
                     {{"epsilon", config_.layer_norm_epsilon}, {"quantize", std::int64_t{quantize ? 1 : 0}}});
    return rows;
  }

  /// The weights of linear layers with the same input, their channels one after the other.
  std::string packed(const std::string& name, const std::vector<std::string>& layers, Sizes sizes) {
    std::vector<float> weights;
    std::vector<float> bias;
    for (const std::string& layer : layers) {
      append(weights, {prefix_ + layer + ".weight"}, {sizes.channels, sizes.inputs});
      append(bias, {prefix_ + layer + ".bias"}, {sizes.channels});
    }
    if (!status_.ok()) return name;
    auto bytes = packed_weights::pack_linear_q8(weights, bias, sizes.inputs, layers.size() * sizes.channels);
    if (!bytes.ok()) {
      status_ = std::move(bytes).error();
      return name;
    }
    return graph_.bytes(name + ".packed", *bytes);
  }

  std::pair<std::string, std::string> norm(const std::string& name) {
    // Checkpoints converted from TensorFlow long ago say gamma and beta.
    return {vector(name + ".weight", name + ".gamma"), vector(name + ".bias", name + ".beta")};
  }

  std::string vector(const std::string& name, const std::string& old_name) {
    std::vector<float> values;
    append(values, {prefix_ + name, prefix_ + old_name}, {hidden_});
    return status_.ok() ? graph_.weight(name, {static_cast<std::int64_t>(hidden_)}, values) : name;
  }

  std::string table(const std::string& name, std::uint64_t rows) {
    std::vector<float> values;
    append(values, {prefix_ + name}, {rows, hidden_});
    if (!status_.ok()) return name;
    return graph_.weight(name, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(hidden_)}, values);
  }

  void append(std::vector<float>& values, const std::vector<std::string>& names,
              const std::vector<std::uint64_t>& shape) {
    if (!status_.ok()) return;
    auto taken = weights_.take(names, shape);
    if (taken.ok()) {
      values.insert(values.end(), taken->begin(), taken->end());
    } else {
      status_ = std::move(taken).error();
    }
  }

  const BertConfig& config_;
  Weights& weights_;
  onnx::GraphBuilder& graph_;
  std::size_t hidden_;
  std::string prefix_;
  Status status_;
};

}  // namespace

Status build_packed_bert(const BertConfig& config, Weights& weights, onnx::GraphBuilder& graph,
                         const PackedForm& form) {
  if (form.precision != "int8") {
    return Error(ErrorKind::kUnsupported,
                 "packed graphs in " + form.precision + " are not supported yet; weir has int8", "--precision");
  }
  return PackedBuilder(config, weights, graph).build(form);
}

}  // namespace weir::families
