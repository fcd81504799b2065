#include "kernels/encoder/validate.h"

#include <string>

namespace weir::kernels {
namespace {

Error corrupt(const std::string& what, const std::string& where) { return {ErrorKind::kCorrupt, what, where}; }
Error invalid(const std::string& what, const std::string& where) { return {ErrorKind::kInvalidArgument, what, where}; }

Status check_linear(const PackedWeightsQ8& weights, std::size_t inputs, std::size_t channels,
                    const std::string& where) {
  if (weights.inputs != inputs || weights.channels != channels) {
    return corrupt("packed weights are " + std::to_string(weights.channels) + " x " + std::to_string(weights.inputs) +
                       ", the model's sizes ask for " + std::to_string(channels) + " x " + std::to_string(inputs),
                   where);
  }
  if (weights.values == nullptr || weights.correction == nullptr || weights.scale == nullptr ||
      weights.bias == nullptr) {
    return corrupt("packed weights are incomplete: values, correction, scale or bias is missing", where);
  }
  return {};
}

Status check_norm(const LayerNormParameters& norm, const std::string& where) {
  if (norm.gamma == nullptr || norm.beta == nullptr) return corrupt("layer norm lacks gamma or beta", where);
  return {};
}

Status check_layer(const EncoderModel& model, const EncoderLayer& layer, const std::string& where) {
  const std::size_t hidden = model.hidden;
  const std::size_t wide = model.intermediate;
  WEIR_RETURN_IF_ERROR(check_linear(layer.query_key_value, hidden, 3 * hidden, where + ".query_key_value"));
  WEIR_RETURN_IF_ERROR(check_linear(layer.attention_output, hidden, hidden, where + ".attention_output"));
  WEIR_RETURN_IF_ERROR(check_norm(layer.attention_norm, where + ".attention_norm"));
  WEIR_RETURN_IF_ERROR(check_linear(layer.feed_forward_up, hidden, wide, where + ".feed_forward_up"));
  WEIR_RETURN_IF_ERROR(check_linear(layer.feed_forward_down, wide, hidden, where + ".feed_forward_down"));
  return check_norm(layer.output_norm, where + ".output_norm");
}

/// Beyond this an int32 sum of 8-bit products could overflow.
constexpr std::size_t kMostInputs = 65536;

Status check_ids(std::span<const std::int32_t> ids, std::size_t limit, const char* where) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < limit) continue;
    return invalid("id " + std::to_string(ids[i]) + " at token " + std::to_string(i) + " is not within 0.." +
                       std::to_string(limit) + " (exclusive)",
                   where);
  }
  return {};
}

Status check_offsets(const EncoderModel& model, const EncoderChunk& chunk) {
  const auto& offsets = chunk.offsets;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != chunk.ids.size()) {
    return invalid("must start with 0 and end with the number of tokens", "offsets");
  }
  const std::size_t longest = model.positions - model.embedding.first_position;
  for (std::size_t t = 1; t < offsets.size(); ++t) {
    if (offsets[t] < offsets[t - 1]) {
      return invalid("descend from " + std::to_string(offsets[t - 1]) + " to " + std::to_string(offsets[t]) +
                         " at text " + std::to_string(t - 1),
                     "offsets");
    }
    if (offsets[t] - offsets[t - 1] > longest) {
      return invalid("text " + std::to_string(t - 1) + " has " + std::to_string(offsets[t] - offsets[t - 1]) +
                         " tokens, the model takes " + std::to_string(longest),
                     "offsets");
    }
  }
  return {};
}

}  // namespace

Status validate_encoder(const EncoderModel& model) {
  if (model.hidden == 0 || model.heads == 0 || model.hidden % model.heads != 0) {
    return corrupt("hidden size " + std::to_string(model.hidden) + " is not a multiple of " +
                       std::to_string(model.heads) + " heads",
                   "heads");
  }
  if (model.intermediate == 0 || model.intermediate > kMostInputs || model.hidden > kMostInputs) {
    return corrupt("hidden and intermediate sizes must be within 1.." + std::to_string(kMostInputs), "intermediate");
  }
  if (model.embedding.words == nullptr || model.vocabulary == 0) return corrupt("no word embeddings", "embedding");
  if (model.positions <= model.embedding.first_position) return corrupt("no positions", "embedding");
  WEIR_RETURN_IF_ERROR(check_norm(model.embedding.layer_norm, "embedding.layer_norm"));
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    WEIR_RETURN_IF_ERROR(check_layer(model, model.layers[i], "layers[" + std::to_string(i) + "]"));
  }
  return {};
}

Status validate_chunk(const EncoderModel& model, const EncoderChunk& chunk, std::size_t maximum_tokens) {
  if (chunk.ids.size() > maximum_tokens) {
    return invalid("a chunk of " + std::to_string(chunk.ids.size()) + " tokens; the workspace takes " +
                       std::to_string(maximum_tokens),
                   "ids");
  }
  WEIR_RETURN_IF_ERROR(check_offsets(model, chunk));
  WEIR_RETURN_IF_ERROR(check_ids(chunk.ids, model.vocabulary, "ids"));
  if (chunk.segment_ids.empty()) return {};
  if (chunk.segment_ids.size() != chunk.ids.size()) return invalid("must be as many as ids", "segment_ids");
  return check_ids(chunk.segment_ids, model.segments, "segment_ids");
}

}  // namespace weir::kernels
