#include "families/bert_config.h"

namespace weir::families {
namespace {

using huggingface::JsonObject;

constexpr std::uint32_t kMaxSize = 1u << 20;
constexpr std::uint32_t kMaxVocabulary = 1u << 24;
constexpr std::uint32_t kMaxLayers = 1000;

Result<std::uint32_t> positive(const JsonObject& config, const char* key, std::uint32_t max) {
  WEIR_ASSIGN_OR_RETURN(const auto value, config.count(key, max));
  if (!value) return config.error(key, "missing");
  if (*value == 0) return config.error(key, "must not be 0");
  return *value;
}

/// A flag that turns BERT into something else than an encoder.
Status refuse_flag(const JsonObject& config, const char* key) {
  WEIR_ASSIGN_OR_RETURN(const auto on, config.boolean(key));
  if (!on.value_or(false)) return {};
  return config.error(key, "true is not supported; weir has encoders", ErrorKind::kUnsupported);
}

Status check_kind(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto positions, config.text("position_embedding_type"));
  if (positions.value_or("absolute") != "absolute") {
    return config.error("position_embedding_type", "'" + *positions + "' is not supported; weir has absolute",
                        ErrorKind::kUnsupported);
  }
  WEIR_RETURN_IF_ERROR(refuse_flag(config, "is_decoder"));
  WEIR_RETURN_IF_ERROR(refuse_flag(config, "add_cross_attention"));
  if (config.has("quantization_config")) {
    return config.error("quantization_config", "quantized checkpoints are not supported; import the original",
                        ErrorKind::kUnsupported);
  }
  return {};
}

Status read_sizes(const JsonObject& config, BertConfig& result) {
  Facts& facts = result.facts;
  WEIR_ASSIGN_OR_RETURN(facts.hidden_size, positive(config, "hidden_size", kMaxSize));
  WEIR_ASSIGN_OR_RETURN(facts.vocabulary_size, positive(config, "vocab_size", kMaxVocabulary));
  WEIR_ASSIGN_OR_RETURN(facts.max_positions, positive(config, "max_position_embeddings", kMaxSize));
  WEIR_ASSIGN_OR_RETURN(facts.layers, positive(config, "num_hidden_layers", kMaxLayers));
  WEIR_ASSIGN_OR_RETURN(result.heads, positive(config, "num_attention_heads", kMaxSize));
  WEIR_ASSIGN_OR_RETURN(result.intermediate_size, positive(config, "intermediate_size", kMaxSize));
  if (facts.hidden_size % result.heads != 0) {
    return config.error("num_attention_heads", std::to_string(result.heads) + " does not divide hidden_size (" +
                                                   std::to_string(facts.hidden_size) + ")");
  }
  WEIR_ASSIGN_OR_RETURN(const auto token_types, config.count("type_vocab_size", kMaxSize));
  if (!token_types) return config.error("type_vocab_size", "missing");
  result.token_types = *token_types;
  facts.has_token_type_ids = *token_types > 0;
  WEIR_ASSIGN_OR_RETURN(const auto pad, config.count("pad_token_id", kMaxVocabulary));
  facts.pad_token_id = pad.value_or(0);
  if (facts.pad_token_id >= facts.vocabulary_size) {
    return config.error("pad_token_id", std::to_string(facts.pad_token_id) + " is outside vocab_size (" +
                                            std::to_string(facts.vocabulary_size) + ")");
  }
  return {};
}

}  // namespace

std::string bert_prefix(const Weights& weights) {
  const bool with_head =
      !weights.has("embeddings.word_embeddings.weight") && weights.has("bert.embeddings.word_embeddings.weight");
  return with_head ? "bert." : "";
}

Status check_bert_left_over(const Weights& weights, const std::string& prefix) {
  for (const std::string& name : weights.left_over()) {
    const bool of_encoder = name.starts_with(prefix + "embeddings.") || name.starts_with(prefix + "encoder.");
    if (!of_encoder || name == prefix + "embeddings.position_ids") continue;
    return Error(ErrorKind::kCorrupt,
                 "tensor '" + name + "' is in the checkpoint, but a bert of this config.json has none of that name",
                 "config.json");
  }
  return {};
}

Result<BertConfig> read_bert_config(const JsonObject& config) {
  BertConfig result;
  result.facts.family = "bert";
  WEIR_RETURN_IF_ERROR(check_kind(config));
  WEIR_RETURN_IF_ERROR(read_sizes(config, result));
  WEIR_ASSIGN_OR_RETURN(const auto epsilon, config.number("layer_norm_eps"));
  if (!epsilon) return config.error("layer_norm_eps", "missing");
  if (!(*epsilon >= 0 && *epsilon <= 1)) return config.error("layer_norm_eps", "must be from 0 to 1");
  result.layer_norm_epsilon = static_cast<float>(*epsilon);
  WEIR_ASSIGN_OR_RETURN(const auto name, config.text("hidden_act"));
  if (!name) return config.error("hidden_act", "missing");
  const auto activation = activation_from_name(*name);
  if (!activation) {
    return config.error("hidden_act", "'" + *name + "' is not supported; weir has " + activation_names(),
                        ErrorKind::kUnsupported);
  }
  result.activation = *activation;
  return result;
}

}  // namespace weir::families
