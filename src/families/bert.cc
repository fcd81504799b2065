// The graph is flat: everything but attention works on [tokens, hidden], where Gemm adds the bias inside the product,
// and Add followed by LayerNormalization on two dimensions is not fused into ONNX Runtime's SkipLayerNormalization,
// which is several times slower on CPUs. docs/decisions/0020-engine-graph.md has the measurements.
#include "families/bert.h"

#include <cmath>
#include <limits>
#include <utility>

#include "families/activation.h"
#include "families/bert_config.h"
#include "families/bert_packed.h"

namespace weir::families {
namespace {

using huggingface::JsonObject;
using onnx::ElementType;

/// Adds one model to one graph; the first failure sticks, and what follows adds nothing.
class Builder {
 public:
  Builder(const BertConfig& config, Weights& weights, onnx::GraphBuilder& graph)
      : config_(config),
        weights_(weights),
        graph_(graph),
        hidden_(config.facts.hidden_size),
        prefix_(bert_prefix(weights)) {}

  Status build() {
    add_inputs();
    std::string hidden = embeddings();
    for (std::uint32_t layer = 0; layer < config_.facts.layers && status_.ok(); ++layer)
      hidden = encoder(hidden, layer);
    const std::string shape =
        graph_.node("Concat", {"shape", integers("hidden", {hidden_})}, "output_shape", {{"axis", std::int64_t{0}}});
    graph_.node("Reshape", {hidden, shape}, kLastHiddenState);
    graph_.output(kLastHiddenState, ElementType::kFloat, {"batch", "sequence", static_cast<std::int64_t>(hidden_)});
    if (status_.ok()) status_ = check_bert_left_over(weights_, prefix_);
    return status_;
  }

 private:
  void add_inputs() {
    for (const char* name : {kInputIds, kAttentionMask}) graph_.input(name, ElementType::kInt64, {"batch", "sequence"});
    if (config_.token_types > 0) graph_.input(kTokenTypeIds, ElementType::kInt64, {"batch", "sequence"});
    graph_.node("Shape", {kInputIds}, "shape");
    graph_.node("Concat", {"shape", integers("heads", {config_.heads, hidden_ / config_.heads})}, "heads_shape",
                {{"axis", std::int64_t{0}}});
    integers("flat_shape", {-1, hidden_});
    // 0 for real tokens and the lowest float for padding, added to the scores: its softmax is 0 exactly, so that a
    // text's vector does not depend on how far it was padded.
    const std::string mask = graph_.node("Cast", {kAttentionMask}, "mask.float", {{"to", std::int64_t{1}}});
    const std::string wide = graph_.node("Unsqueeze", {mask, integers("mask.axes", {1, 2})}, "mask.wide");
    const std::string padding = graph_.node("Sub", {graph_.float_constant("one", 1.0f), wide}, "mask.padding");
    const std::string lowest = graph_.float_constant("lowest", std::numeric_limits<float>::lowest());
    graph_.node("Mul", {padding, lowest}, "mask");
    const auto head_size = hidden_ / config_.heads;
    graph_.float_constant("score_divisor", std::sqrt(static_cast<float>(head_size)));
  }

  std::string embeddings() {
    const std::string word = table("embeddings.word_embeddings.weight", config_.facts.vocabulary_size);
    std::string sum = graph_.node("Gather", {word, kInputIds}, "embeddings.words");
    if (config_.token_types > 0) {
      const std::string types = table("embeddings.token_type_embeddings.weight", config_.token_types);
      const std::string rows = graph_.node("Gather", {types, kTokenTypeIds}, "embeddings.types");
      sum = graph_.node("Add", {sum, rows}, "embeddings.words_types");
    }
    const std::string positions = table("embeddings.position_embeddings.weight", config_.facts.max_positions);
    const std::string length =
        graph_.node("Shape", {kInputIds}, "length", {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    const std::string zero = integers("zero", {0});
    const std::string rows = graph_.node("Slice", {positions, zero, length, zero}, "embeddings.positions");
    sum = graph_.node("Add", {sum, rows}, "embeddings.sum");
    const std::string flat = graph_.node("Reshape", {sum, "flat_shape"}, "embeddings.flat");
    return layer_norm("embeddings.LayerNorm", flat, "embeddings.output");
  }

  std::string encoder(const std::string& input, std::uint32_t layer) {
    const std::string name = "encoder.layer." + std::to_string(layer) + ".";
    const std::string context = attention(input, name + "attention.self.");
    const std::string projected = linear(name + "attention.output.dense", context, hidden_, hidden_);
    const std::string attended = graph_.node("Add", {projected, input}, name + "attention.sum");
    const std::string middle = layer_norm(name + "attention.output.LayerNorm", attended, name + "attention.normalized");
    const std::string wide = linear(name + "intermediate.dense", middle, hidden_, config_.intermediate_size);
    const std::string active = add_activation(graph_, config_.activation, wide, name + "intermediate.active");
    const std::string narrow = linear(name + "output.dense", active, config_.intermediate_size, hidden_);
    const std::string sum = graph_.node("Add", {narrow, middle}, name + "sum");
    return layer_norm(name + "output.LayerNorm", sum, name + "normalized");
  }

  std::string attention(const std::string& input, const std::string& name) {
    const std::string query = head_view(linear(name + "query", input, hidden_, hidden_), {0, 2, 1, 3});
    const std::string key = head_view(linear(name + "key", input, hidden_, hidden_), {0, 2, 3, 1});
    const std::string value = head_view(linear(name + "value", input, hidden_, hidden_), {0, 2, 1, 3});
    const std::string products = graph_.node("MatMul", {query, key}, name + "products");
    const std::string scores = graph_.node("Div", {products, "score_divisor"}, name + "scores");
    const std::string masked = graph_.node("Add", {scores, "mask"}, name + "masked");
    const std::string weights = graph_.node("Softmax", {masked}, name + "weights", {{"axis", std::int64_t{-1}}});
    const std::string context = graph_.node("MatMul", {weights, value}, name + "context");
    const std::string tokens =
        graph_.node("Transpose", {context}, name + "context.tokens", {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return graph_.node("Reshape", {tokens, "flat_shape"}, name + "context.flat");
  }

  /// [tokens, hidden] as [batch, sequence, heads, head size], permuted.
  std::string head_view(const std::string& input, const std::vector<std::int64_t>& permutation) {
    const std::string heads = graph_.node("Reshape", {input, "heads_shape"}, input + ".heads");
    return graph_.node("Transpose", {heads}, input + ".transposed", {{"perm", permutation}});
  }

  std::string linear(const std::string& name, const std::string& input, std::uint64_t columns, std::uint64_t rows) {
    if (!status_.ok()) return name;
    auto values = weights_.take_transposed(prefix_ + name + ".weight", rows, columns);
    const std::string weight = add_weight(name + ".weight", {columns, rows}, std::move(values));
    const std::string bias = vector(name + ".bias", {prefix_ + name + ".bias"}, rows);
    return graph_.node("Gemm", {input, weight, bias}, name);
  }

  std::string layer_norm(const std::string& name, const std::string& input, const std::string& output) {
    // Checkpoints converted from TensorFlow long ago say gamma and beta.
    const std::string scale =
        vector(name + ".weight", {prefix_ + name + ".weight", prefix_ + name + ".gamma"}, hidden_);
    const std::string bias = vector(name + ".bias", {prefix_ + name + ".bias", prefix_ + name + ".beta"}, hidden_);
    return graph_.node("LayerNormalization", {input, scale, bias}, output,
                       {{"axis", std::int64_t{-1}}, {"epsilon", config_.layer_norm_epsilon}});
  }

  std::string table(const std::string& name, std::uint64_t rows) {
    if (!status_.ok()) return name;
    const std::vector<std::uint64_t> shape{rows, config_.facts.hidden_size};
    return add_weight(name, shape, weights_.take({prefix_ + name}, shape));
  }

  std::string vector(const std::string& name, const std::vector<std::string>& names, std::uint64_t size) {
    if (!status_.ok()) return name;
    return add_weight(name, {size}, weights_.take(names, {size}));
  }

  std::string add_weight(const std::string& name, const std::vector<std::uint64_t>& shape,
                         Result<std::vector<float>> values) {
    if (!values.ok()) {
      if (status_.ok()) status_ = std::move(values).error();
      return name;
    }
    return graph_.weight(name, std::vector<std::int64_t>(shape.begin(), shape.end()), *values);
  }

  std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
    return graph_.int64_constant(name, {static_cast<std::int64_t>(values.size())}, values);
  }

  const BertConfig& config_;
  Weights& weights_;
  onnx::GraphBuilder& graph_;
  std::int64_t hidden_;
  std::string prefix_;
  Status status_;
};

class Bert : public Architecture {
 public:
  explicit Bert(BertConfig config) : config_(std::move(config)) {}
  const Facts& facts() const override { return config_.facts; }
  Status build(Weights& weights, onnx::GraphBuilder& graph) const override {
    return Builder(config_, weights, graph).build();
  }
  Status build_packed(Weights& weights, onnx::GraphBuilder& graph, const PackedForm& form) const override {
    return build_packed_bert(config_, weights, graph, form);
  }

 private:
  BertConfig config_;
};

}  // namespace

Result<std::unique_ptr<Architecture>> read_bert(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(BertConfig result, read_bert_config(config));
  return std::unique_ptr<Architecture>(std::make_unique<Bert>(std::move(result)));
}

}  // namespace weir::families
