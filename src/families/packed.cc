// Between two linear layers there are rows in the graph's precision and, where a residual needs them, the same rows in
// fp32; nothing is padded, and a text's numbers do not depend on the texts beside it.
#include "families/packed.h"

#include <utility>

#include "families/family.h"

namespace weir::families {
namespace {

using onnx::ElementType;

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
  PackedWriter(const Encoder& encoder, ModelGraph& model, PackedPrecision precision)
      : encoder_(encoder),
        model_(model),
        graph_(model.graph()),
        operators_(graph_, precision),
        hidden_(encoder.facts.hidden_size) {}

  std::string write() {
    PackedRows rows = embeddings();
    for (std::size_t i = 0; i < encoder_.layers.size() && model_.ok(); ++i) {
      rows = layer(encoder_.layers[i], rows, "layer." + std::to_string(i) + ".", i + 1 == encoder_.layers.size());
    }
    return rows.values;
  }

 private:
  PackedRows embeddings() {
    const Embeddings& tables = encoder_.embeddings;
    const bool has_types = encoder_.facts.has_token_type_ids;
    graph_.input(kInputIds, ElementType::kInt64, {"tokens"});
    if (has_types) graph_.input(kTokenTypeIds, ElementType::kInt64, {"tokens"});
    graph_.input(kOffsets, ElementType::kInt64, {"boundaries"});
    const std::string words = model_.table(tables.words);
    const std::string positions = position_table();
    const std::string types = has_types ? model_.table(*tables.types) : std::string();
    const auto [gamma, beta] = norm(*tables.norm);
    return operators_.embedding(
        "embeddings", {kInputIds, has_types ? kTokenTypeIds : "", kOffsets, words, positions, types, gamma, beta},
        {{"epsilon", tables.norm->epsilon},
         {"first_position", static_cast<std::int64_t>(tables.first_position)},
         {"padding_id", tables.skip_padding_tokens ? std::int64_t{encoder_.facts.pad_token_id} : std::int64_t{-1}}});
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

  PackedRows layer(const Layer& layer, const PackedRows& input, const std::string& name, bool last) {
    const PackedRows context = attention(layer.attention, input, name + "attention");
    const PackedRows middle = residual_norm(name + "attention.output", context, input.values, layer.attention.output,
                                            *layer.attention_norm, false);
    const std::string up = name + "feed_forward.up";
    const PackedRows wide =
        operators_.linear(up, middle, packed(up, {&layer.feed_forward.up}), activation_attribute(encoder_.activation));
    return residual_norm(name + "output", wide, middle.values, layer.feed_forward.down, layer.feed_forward_norm, last);
  }

  PackedRows attention(const Attention& attention, const PackedRows& input, const std::string& name) {
    const std::string weights = packed(name, {&attention.query, &attention.key, &attention.value});
    const std::string query_key_value = operators_.linear(name + ".query_key_value", input, weights);
    return operators_.attention(name, query_key_value, kOffsets, encoder_.heads, hidden_ / encoder_.heads);
  }

  PackedRows residual_norm(const std::string& name, const PackedRows& input, const std::string& residual,
                           const Linear& linear, const Norm& parameters, bool last) {
    const std::string weights = packed(name, {&linear});
    const auto [gamma, beta] = norm(parameters);
    return operators_.residual_norm(name, input, {weights, residual, gamma, beta, parameters.epsilon, last});
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
    auto added = operators_.weights(name, weights, bias, layers.front()->inputs, channels);
    if (added.ok()) return *added;
    model_.fail(std::move(added).error());
    return name;
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
  PackedOperators operators_;
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

Status check_packed(const Encoder& encoder) {
  const std::string flag = "--precision";
  const std::string reason = not_packable(encoder);
  if (reason.empty()) return {};
  return Error(ErrorKind::kUnsupported,
               flag + ": the packed operators do not compute " + encoder.facts.family + " (" + reason +
                   "); weir computes it in fp32, padded",
               flag);
}

std::string add_packed_encoder(const Encoder& encoder, ModelGraph& model, PackedPrecision precision) {
  return PackedWriter(encoder, model, precision).write();
}

}  // namespace weir::families
