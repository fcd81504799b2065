// Between two linear layers there are rows in the graph's precision and, where a residual needs them, the same rows in
// fp32; nothing is padded, and a text's numbers do not depend on the texts beside it.
#include "families/packed.h"

#include <algorithm>

#include "families/family.h"
#include "families/packed_attention.h"
#include "families/packed_parameters.h"

namespace weir::families {
namespace {

using onnx::ElementType;

class PackedWriter {
 public:
  PackedWriter(const Encoder& encoder, ModelGraph& model, const PackedNumbers& numbers, bool has_keys)
      : encoder_(encoder),
        model_(model),
        graph_(model.graph()),
        operators_(graph_, numbers.layers, numbers.attention),
        parameters_(model, operators_),
        attention_(encoder, model, operators_, parameters_, has_keys),
        has_keys_(has_keys) {}

  std::string write() {
    const PackedRows embedded = embeddings();
    PackedRows rows = embedded;
    for (std::size_t i = 0; i < encoder_.layers.size() && model_.ok(); ++i) {
      const std::string name = "layer." + std::to_string(i) + ".";
      const Layer& parts = encoder_.layers[i];
      const PackedWanted wanted = i + 1 == encoder_.layers.size() ? PackedWanted::kValues : PackedWanted::kBoth;
      if (i == 0 && encoder_.convolution) {
        rows = convolution(*encoder_.convolution, embedded, layer(parts, rows, name, PackedWanted::kValues), wanted);
        continue;
      }
      rows = encoder_.norm_first ? norm_first_layer(parts, rows, name) : layer(parts, rows, name, wanted);
    }
    if (!encoder_.final_norm) return rows.values;
    return normalized("final", rows.values, *encoder_.final_norm, PackedWanted::kValues).values;
  }

 private:
  PackedRows embeddings() {
    const Embeddings& tables = encoder_.embeddings;
    const bool has_types = encoder_.facts.has_token_type_ids;
    graph_.input(kInputIds, ElementType::kInt64, {"tokens"});
    if (has_types) graph_.input(kTokenTypeIds, ElementType::kInt64, {"tokens"});
    graph_.input(kOffsets, ElementType::kInt64, {"boundaries"});
    if (has_keys_) graph_.input(kKeys, ElementType::kInt64, {"texts"});
    const std::string words = model_.table(tables.words);
    const std::string positions = tables.positions ? model_.table(*tables.positions) : std::string();
    const std::string types = tables.types ? model_.table(*tables.types) : std::string();
    PackedNorm norm;
    if (tables.norm && !tables.project_first) norm = parameters_.norm(*tables.norm);
    std::vector<std::string> inputs = {
        kInputIds, has_types ? kTokenTypeIds : "", kOffsets, words, positions, types, norm.gamma, norm.beta};
    while (inputs.back().empty()) inputs.pop_back();
    PackedRows rows = operators_.embedding(
        "embeddings", inputs,
        {{"epsilon", norm.epsilon},
         {"first_position", static_cast<std::int64_t>(tables.first_position)},
         {"padding_id", tables.skip_padding_tokens ? std::int64_t{encoder_.facts.pad_token_id} : std::int64_t{-1}}});
    if (!tables.projection) return rows;
    const std::string name = "embeddings.projected";
    const std::string weights = parameters_.linear(name, {&*tables.projection});
    if (!tables.project_first || !tables.norm) {
      return operators_.linear(name, rows, weights, "none", PackedWanted::kBoth);
    }
    return normalized("embeddings.normalized", operators_.linear(name, rows, weights), *tables.norm,
                      PackedWanted::kBoth);
  }

  PackedRows convolution(const Convolution& parts, const PackedRows& input, const PackedRows& residual,
                         PackedWanted wanted) {
    const std::string name = "convolution";
    const PackedRows neighbors = operators_.neighbors(name + ".input", input.values, kOffsets, parts.width);
    const std::string weights = parameters_.convolution(name, parts, encoder_.facts.hidden_size);
    const PackedRows active =
        operators_.linear(name, neighbors, weights, packed_activation_name(parts.activation), PackedWanted::kValues);
    return operators_.layer_norm(name + ".output",
                                 {active.values, residual.values, parameters_.norm(parts.norm), wanted});
  }

  PackedRows layer(const Layer& layer, const PackedRows& input, const std::string& name, PackedWanted wanted) {
    const PackedRows context = attention_.add(layer.attention, input, name + "attention");
    const std::string output = name + "attention.output";
    const Norm& inner = layer.attention_inner_norm ? *layer.attention_inner_norm : *layer.attention_norm;
    PackedRows middle = residual_norm(output, context, input.values, layer.attention.output, inner,
                                      layer.attention_inner_norm ? PackedWanted::kValues : PackedWanted::kBoth);
    if (layer.attention_inner_norm) {
      middle = operators_.layer_norm(output + ".normalized",
                                     {middle.values, input.values, parameters_.norm(*layer.attention_norm)});
    }
    const PackedRows wide = widened(layer.feed_forward, middle, name + "feed_forward.up");
    return residual_norm(name + "output", wide, middle.values, layer.feed_forward.down, layer.feed_forward_norm,
                         wanted);
  }

  /// What is added stays fp32 values; only what is normalized becomes rows. The first layer may have rows already.
  PackedRows norm_first_layer(const Layer& layer, const PackedRows& input, const std::string& name) {
    PackedRows read = input;
    if (layer.attention_norm) {
      read = normalized(name + "attention.input", input.values, *layer.attention_norm, PackedWanted::kRows);
    }
    const PackedRows context = attention_.add(layer.attention, read, name + "attention");
    const std::string attended = sum(name + "attention.output", context, layer.attention.output, input.values);
    const PackedRows middle =
        normalized(name + "feed_forward.input", attended, layer.feed_forward_norm, PackedWanted::kRows);
    const PackedRows wide = widened(layer.feed_forward, middle, name + "feed_forward.up");
    return {sum(name + "output", wide, layer.feed_forward.down, attended), {}, {}};
  }

  /// The first linear layer of the feed-forward part, activated.
  PackedRows widened(const FeedForward& parts, const PackedRows& input, const std::string& name) {
    const std::string activation = packed_activation_name(encoder_.activation);
    if (!parts.gate) {
      return operators_.linear(name, input, parameters_.linear(name, {&parts.up}), activation, PackedWanted::kRows);
    }
    const std::string weights = parameters_.linear(name, {&*parts.gate, &parts.up});
    return operators_.linear(name, input, weights, activation + "_gated", PackedWanted::kRows);
  }

  PackedRows residual_norm(const std::string& name, const PackedRows& input, const std::string& residual,
                           const Linear& linear, const Norm& norm, PackedWanted wanted) {
    const std::string weights = parameters_.linear(name, {&linear});
    return operators_.residual_norm(name, input, {weights, residual, parameters_.norm(norm), wanted});
  }

  std::string sum(const std::string& name, const PackedRows& input, const Linear& linear, const std::string& residual) {
    return operators_.linear(name, input, parameters_.linear(name, {&linear}), residual);
  }

  PackedRows normalized(const std::string& name, const std::string& values, const Norm& norm, PackedWanted wanted) {
    return operators_.layer_norm(name, {values, {}, parameters_.norm(norm), wanted});
  }

  const Encoder& encoder_;
  ModelGraph& model_;
  onnx::GraphBuilder& graph_;
  PackedOperators operators_;
  PackedParameters parameters_;
  PackedAttention attention_;
  bool has_keys_;
};

/// The first thing that the packed operators cannot compute; empty: nothing.
std::string not_packable(const Encoder& encoder, std::uint32_t unattended) {
  const auto lacks_norm = [&](const Layer& layer) { return !layer.attention_norm && &layer != &encoder.layers[0]; };
  if (std::any_of(encoder.layers.begin(), encoder.layers.end(), lacks_norm)) return "its arrangement of norms";
  if (unattended == 0) return {};
  const auto is_narrow = [&](const Layer& layer) {
    return layer.attention.window != 0 && layer.attention.window < unattended;
  };
  if (std::any_of(encoder.layers.begin(), encoder.layers.end(), is_narrow)) {
    return "windows in which no token is attended to";
  }
  return {};
}

}  // namespace

Status check_packed(const Encoder& encoder, std::uint32_t unattended) {
  const std::string flag = "--precision";
  const std::string reason = not_packable(encoder, unattended);
  if (reason.empty()) return {};
  return Error(ErrorKind::kUnsupported,
               flag + ": the packed operators do not compute " + encoder.facts.family + " (" + reason +
                   "); weir computes it in fp32, padded",
               flag);
}

std::string add_packed_encoder(const Encoder& encoder, ModelGraph& model, const PackedNumbers& numbers, bool has_keys) {
  return PackedWriter(encoder, model, numbers, has_keys).write();
}

}  // namespace weir::families
