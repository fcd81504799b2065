// Between two linear layers there are 8-bit rows with a scale each and, where a residual needs them, the same rows in
// fp32; nothing is padded, and a text's numbers do not depend on the texts beside it.
#include "families/packed.h"

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
    case Activation::kTanh:
      break;
  }
  return "none";
}

class PackedWriter {
 public:
  PackedWriter(const Encoder& encoder, ModelGraph& model)
      : encoder_(encoder), model_(model), graph_(model.graph()), hidden_(encoder.facts.hidden_size) {}

  void write(const PackedForm& form) {
    Rows rows = embeddings();
    for (std::size_t i = 0; i < encoder_.layers.size() && model_.ok(); ++i) {
      rows = layer(encoder_.layers[i], rows, "layer." + std::to_string(i) + ".", i + 1 == encoder_.layers.size());
    }
    graph_.weir_node("PackedPooling", {rows.values, kOffsets}, {kSentenceEmbedding},
                     {{"pooling", form.pooling}, {"normalize", std::int64_t{0}}});
    graph_.output(kSentenceEmbedding, ElementType::kFloat, {"texts", static_cast<std::int64_t>(hidden_)});
  }

 private:
  Rows embeddings() {
    const Embeddings& tables = encoder_.embeddings;
    const bool has_types = encoder_.facts.has_token_type_ids;
    graph_.input(kInputIds, ElementType::kInt64, {"tokens"});
    if (has_types) graph_.input(kTokenTypeIds, ElementType::kInt64, {"tokens"});
    graph_.input(kOffsets, ElementType::kInt64, {"boundaries"});
    const std::string words = model_.table(tables.words);
    const std::string positions = position_table();
    const std::string types = has_types ? model_.table(*tables.types) : std::string();
    const auto [gamma, beta] = norm(*tables.norm);
    Rows rows{"embeddings", "embeddings.rows", "embeddings.scales"};
    graph_.weir_node(
        "PackedEmbedding", {kInputIds, has_types ? kTokenTypeIds : "", kOffsets, words, positions, types, gamma, beta},
        {rows.values, rows.bytes, rows.scales},
        {{"epsilon", tables.norm->epsilon}, {"first_position", static_cast<std::int64_t>(tables.first_position)}});
    return rows;
  }

  /// A token type that all tokens have is added to the positions.
  std::string position_table() {
    const Embeddings& tables = encoder_.embeddings;
    if (encoder_.facts.has_token_type_ids || !tables.types) return model_.table(*tables.positions);
    const Table& positions = *tables.positions;
    std::vector<float> rows = model_.values({positions.name + ".weight"}, {positions.rows, positions.columns});
    const std::vector<float> types =
        model_.values({tables.types->name + ".weight"}, {tables.types->rows, tables.types->columns});
    if (!model_.ok()) return positions.name;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += types[i % positions.columns];
    return model_.weight(positions.name + ".weight",
                         {static_cast<std::int64_t>(positions.rows), static_cast<std::int64_t>(positions.columns)},
                         rows);
  }

  Rows layer(const Layer& layer, const Rows& input, const std::string& name, bool last) {
    const Rows context = attention(layer.attention, input, name + "attention");
    const Rows middle = residual_norm(name + "attention.output", context, input.values, layer.attention.output,
                                      *layer.attention_norm, true);
    const Rows wide = feed_forward(layer.feed_forward.up, middle, name + "feed_forward.up");
    return residual_norm(name + "output", wide, middle.values, layer.feed_forward.down, layer.feed_forward_norm, !last);
  }

  Rows attention(const Attention& attention, const Rows& input, const std::string& name) {
    const std::string weights = packed(name, {&attention.query, &attention.key, &attention.value});
    graph_.weir_node("LinearQ8", {input.bytes, input.scales, weights}, {name + ".query_key_value"},
                     {{"activation", std::string("none")}, {"quantize", std::int64_t{0}}});
    Rows context{{}, name + ".rows", name + ".scales"};
    const auto head_size = static_cast<float>(hidden_ / encoder_.heads);
    graph_.weir_node("PackedAttention", {name + ".query_key_value", kOffsets}, {context.bytes, context.scales},
                     {{"heads", static_cast<std::int64_t>(encoder_.heads)},
                      {"scale", 1.0f / std::sqrt(head_size)},
                      {"precision", std::string("fp32")}});
    return context;
  }

  Rows feed_forward(const Linear& up, const Rows& input, const std::string& name) {
    const std::string weights = packed(name, {&up});
    Rows wide{{}, name + ".rows", name + ".scales"};
    graph_.weir_node(
        "LinearQ8", {input.bytes, input.scales, weights}, {"", wide.bytes, wide.scales},
        {{"activation", std::string(activation_attribute(encoder_.activation))}, {"quantize", std::int64_t{1}}});
    return wide;
  }

  Rows residual_norm(const std::string& name, const Rows& input, const std::string& residual, const Linear& linear,
                     const Norm& parameters, bool quantize) {
    const std::string weights = packed(name, {&linear});
    const auto [gamma, beta] = norm(parameters);
    Rows rows{name, name + ".rows", name + ".scales"};
    std::vector<std::string> outputs = {rows.values};
    if (quantize) outputs.insert(outputs.end(), {rows.bytes, rows.scales});
    graph_.weir_node("LinearQ8ResidualNorm", {input.bytes, input.scales, residual, weights, gamma, beta}, outputs,
                     {{"epsilon", parameters.epsilon}, {"quantize", std::int64_t{quantize ? 1 : 0}}});
    return rows;
  }

  /// The weights of linear layers with the same input, their channels one after the other.
  std::string packed(const std::string& name, const std::vector<const Linear*>& layers) {
    std::vector<float> weights;
    std::vector<float> bias;
    std::size_t channels = 0;
    for (const Linear* layer : layers) {
      const std::vector<float> own_weights = model_.linear_weights(*layer);
      const std::vector<float> own_bias = model_.linear_bias(*layer);
      weights.insert(weights.end(), own_weights.begin(), own_weights.end());
      bias.insert(bias.end(), own_bias.begin(), own_bias.end());
      channels += layer->channels;
    }
    if (!model_.ok()) return name;
    auto bytes = packed_weights::pack_linear_q8(weights, bias, layers.front()->inputs, channels);
    if (!bytes.ok()) {
      model_.fail(std::move(bytes).error());
      return name;
    }
    return graph_.bytes(name + ".packed", *bytes);
  }

  std::pair<std::string, std::string> norm(const Norm& parameters) {
    const auto [scale, bias] = model_.norm_values(parameters);
    const auto size = static_cast<std::int64_t>(parameters.size);
    return {model_.weight(parameters.name + ".weight", {size}, scale),
            model_.weight(parameters.name + ".bias", {size}, bias)};
  }

  const Encoder& encoder_;
  ModelGraph& model_;
  onnx::GraphBuilder& graph_;
  std::size_t hidden_;
};

/// The first thing that the packed operators cannot compute; empty: nothing.
std::string not_packable(const Encoder& encoder) {
  const Layer& layer = encoder.layers.front();
  if (encoder.disentangled || encoder.convolution) return "disentangled attention";
  if (encoder.relative_bias) return "a relative attention bias";
  if (!encoder.alibi_slopes.empty()) return "ALiBi";
  if (layer.attention.rotary) return "rotary positions";
  if (layer.feed_forward.gate) return "a gated feed-forward part";
  if (encoder.norm_first || layer.attention_inner_norm) return "its arrangement of norms";
  if (encoder.embeddings.projection) return "an embedding projection";
  if (!encoder.embeddings.positions || !encoder.embeddings.norm) return "its embeddings";
  return {};
}

}  // namespace

Status check_packed(const Encoder& encoder, const PackedForm& form) {
  const std::string flag = "--precision";
  if (form.precision != "int8") {
    return Error(ErrorKind::kUnsupported,
                 "packed graphs in " + form.precision + " are not supported yet; weir has int8", flag);
  }
  const std::string reason = not_packable(encoder);
  if (reason.empty()) return {};
  return Error(ErrorKind::kUnsupported,
               flag + ": int8 is not there yet for " + encoder.facts.family + " (" + reason + "); take fp32", flag);
}

void add_packed_encoder(const Encoder& encoder, ModelGraph& model, const PackedForm& form) {
  PackedWriter(encoder, model).write(form);
}

}  // namespace weir::families
