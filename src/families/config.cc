#include "families/config.h"

namespace weir::families {
namespace {

using huggingface::JsonObject;

const char* first_present(const JsonObject& config, const std::vector<const char*>& keys) {
  for (const char* key : keys) {
    if (config.has(key)) return key;
  }
  return keys.front();
}

}  // namespace

Facts Sizes::facts(std::string family) const {
  Facts facts;
  facts.family = std::move(family);
  facts.hidden_size = hidden;
  facts.vocabulary_size = vocabulary;
  facts.max_positions = positions;
  facts.pad_token_id = pad_token_id;
  facts.layers = layers;
  return facts;
}

Result<std::uint32_t> positive(const JsonObject& config, const std::vector<const char*>& keys, std::uint32_t max) {
  const char* key = first_present(config, keys);
  WEIR_ASSIGN_OR_RETURN(const auto value, config.count(key, max));
  if (!value) return config.error(key, "missing");
  if (*value == 0) return config.error(key, "must not be 0");
  return *value;
}

Result<Sizes> read_sizes(const JsonObject& config, const SizeFields& fields, std::uint32_t default_pad_token_id) {
  Sizes sizes;
  WEIR_ASSIGN_OR_RETURN(sizes.hidden, positive(config, fields.hidden, kMaxSize));
  WEIR_ASSIGN_OR_RETURN(sizes.vocabulary, positive(config, {"vocab_size"}, kMaxVocabulary));
  WEIR_ASSIGN_OR_RETURN(sizes.positions, positive(config, fields.positions, kMaxSize));
  WEIR_ASSIGN_OR_RETURN(sizes.layers, positive(config, fields.layers, kMaxLayers));
  WEIR_ASSIGN_OR_RETURN(sizes.heads, positive(config, fields.heads, kMaxSize));
  WEIR_ASSIGN_OR_RETURN(sizes.intermediate, positive(config, fields.intermediate, kMaxSize));
  if (sizes.hidden % sizes.heads != 0) {
    const char* key = first_present(config, fields.heads);
    return config.error(key, std::to_string(sizes.heads) + " does not divide " + first_present(config, fields.hidden) +
                                 " (" + std::to_string(sizes.hidden) + ")");
  }
  WEIR_ASSIGN_OR_RETURN(const auto pad, config.count("pad_token_id", kMaxVocabulary));
  sizes.pad_token_id = pad.value_or(default_pad_token_id);
  if (sizes.pad_token_id >= sizes.vocabulary) {
    return config.error("pad_token_id", std::to_string(sizes.pad_token_id) + " is outside vocab_size (" +
                                            std::to_string(sizes.vocabulary) + ")");
  }
  return sizes;
}

Status expect_boolean(const JsonObject& config, const char* key, bool expected) {
  WEIR_ASSIGN_OR_RETURN(const auto value, config.boolean(key));
  if (value.value_or(expected) == expected) return {};
  return config.error(key, std::string(*value ? "true" : "false") + " is not supported", ErrorKind::kUnsupported);
}

Status check_is_encoder(const JsonObject& config) {
  for (const char* key : {"is_decoder", "add_cross_attention"}) {
    WEIR_ASSIGN_OR_RETURN(const auto on, config.boolean(key));
    if (on.value_or(false)) {
      return config.error(key, "true is not supported; weir has encoders", ErrorKind::kUnsupported);
    }
  }
  if (config.has("quantization_config")) {
    return config.error("quantization_config", "quantized checkpoints are not supported; import the original",
                        ErrorKind::kUnsupported);
  }
  return {};
}

Result<std::uint32_t> token_types(const JsonObject& config, std::optional<std::uint32_t> otherwise) {
  WEIR_ASSIGN_OR_RETURN(const auto types, config.count("type_vocab_size", kMaxSize));
  if (!types && !otherwise) return config.error("type_vocab_size", "missing");
  return types.value_or(otherwise.value_or(0));
}

Result<float> epsilon(const JsonObject& config, const std::vector<const char*>& keys, std::optional<float> otherwise) {
  const char* key = first_present(config, keys);
  WEIR_ASSIGN_OR_RETURN(const auto value, config.number(key));
  if (!value) {
    if (otherwise) return *otherwise;
    return config.error(key, "missing");
  }
  if (!(*value >= 0 && *value <= 1)) return config.error(key, "must be from 0 to 1");
  return static_cast<float>(*value);
}

Result<Activation> activation(const JsonObject& config, const std::vector<const char*>& keys,
                              std::optional<Activation> otherwise) {
  const char* key = first_present(config, keys);
  WEIR_ASSIGN_OR_RETURN(const auto name, config.text(key));
  if (!name) {
    if (otherwise) return *otherwise;
    return config.error(key, "missing");
  }
  if (const auto found = activation_from_name(*name)) return *found;
  return config.error(key, "'" + *name + "' is not supported; weir has " + activation_names(), ErrorKind::kUnsupported);
}

}  // namespace weir::families
