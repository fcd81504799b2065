#include "huggingface/late_interaction.h"

#include <string_view>
#include <utility>

namespace weir::huggingface {
namespace {

constexpr std::uint32_t kMaxTokens = 1u << 20;
constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::vector<std::string> punctuation() {
  std::vector<std::string> words;
  for (const char symbol : kPunctuation) words.emplace_back(1, symbol);
  return words;
}

/// Room for the first token, the marker and the last token at least.
Result<std::optional<std::uint32_t>> read_length(const JsonObject& object, const char* key) {
  constexpr std::uint32_t kLeast = 3;
  WEIR_ASSIGN_OR_RETURN(const auto length, object.count(key, kMaxTokens));
  if (length.value_or(kLeast) < kLeast) return object.error(key, "must be at least " + std::to_string(kLeast));
  return length;
}

Result<std::string> read_marker(const JsonObject& object, const char* key, const std::string& otherwise) {
  WEIR_ASSIGN_OR_RETURN(const auto given, object.text(key));
  if (given && given->empty()) return object.error(key, "is empty");
  return given.value_or(otherwise);
}

Status refuse_other(const JsonObject& object, const char* key, const std::string& usual) {
  WEIR_ASSIGN_OR_RETURN(const auto value, object.text(key));
  if (value.value_or(usual) == usual) return {};
  return object.error(key, "'" + *value + "' is not supported; weir has " + usual, ErrorKind::kUnsupported);
}

Status read_expansion(const JsonObject& transformer, LateInteraction& late) {
  WEIR_ASSIGN_OR_RETURN(const auto expansion, transformer.object("query_expansion"));
  late.expands_queries = expansion.has_value();
  if (!expansion) return {};
  WEIR_RETURN_IF_ERROR(refuse_other(*expansion, "strategy", "fixed"));
  WEIR_ASSIGN_OR_RETURN(late.query_tokens, read_length(*expansion, "length"));
  if (!late.query_tokens) return expansion->error("length", "missing");
  WEIR_ASSIGN_OR_RETURN(late.expansion_token, expansion->text("token"));
  WEIR_ASSIGN_OR_RETURN(const auto attends, expansion->boolean("attend"));
  late.attends_to_expansion = attends.value_or(false);
  return {};
}

Status read_mask(const JsonObject& mask, LateInteraction& late) {
  WEIR_ASSIGN_OR_RETURN(const auto words, mask.texts("skiplist_words"));
  WEIR_ASSIGN_OR_RETURN(const auto tasks, mask.texts("skiplist_tasks"));
  late.skipped_words = words.value_or(std::vector<std::string>());
  if (tasks && *tasks != std::vector<std::string>{"document"} && !late.skipped_words.empty()) {
    return mask.error("skiplist_tasks", "has others than document, which is not supported", ErrorKind::kUnsupported);
  }
  if (mask.has("keep_only_token_ids")) {
    return mask.error("keep_only_token_ids", "is not supported", ErrorKind::kUnsupported);
  }
  return {};
}

/// maxsim is the sum of the largest products, meanmaxsim their mean.
Status read_similarity(const JsonObject& config, LateInteraction& late) {
  const char* key = "similarity_fn_name";
  WEIR_ASSIGN_OR_RETURN(const auto name, config.text(key));
  late.length_normalized = name == "meanmaxsim";
  if (late.length_normalized || name.value_or("maxsim") == "maxsim") return {};
  return config.error(key, "'" + *name + "' is not supported; weir has maxsim and meanmaxsim", ErrorKind::kUnsupported);
}

}  // namespace

Result<LateInteraction> read_stanford_late_interaction(const JsonObject& metadata) {
  constexpr std::uint32_t kUsualQuery = 32;
  constexpr std::uint32_t kUsualDocument = 220;
  LateInteraction late;
  WEIR_RETURN_IF_ERROR(refuse_other(metadata, "similarity", "cosine"));
  WEIR_RETURN_IF_ERROR(refuse_other(metadata, "interaction", "colbert"));
  WEIR_ASSIGN_OR_RETURN(late.query_marker, read_marker(metadata, "query_token_id", "[unused0]"));
  WEIR_ASSIGN_OR_RETURN(late.document_marker, read_marker(metadata, "doc_token_id", "[unused1]"));
  WEIR_ASSIGN_OR_RETURN(const auto query_tokens, read_length(metadata, "query_maxlen"));
  WEIR_ASSIGN_OR_RETURN(const auto document_tokens, read_length(metadata, "doc_maxlen"));
  WEIR_ASSIGN_OR_RETURN(const auto attends, metadata.boolean("attend_to_mask_tokens"));
  WEIR_ASSIGN_OR_RETURN(const auto skips, metadata.boolean("mask_punctuation"));
  late.query_tokens = query_tokens.value_or(kUsualQuery);
  late.document_tokens = document_tokens.value_or(kUsualDocument);
  late.attends_to_expansion = attends.value_or(false);
  if (skips.value_or(true)) late.skipped_words = punctuation();
  late.skips_by_text = true;
  return late;
}

Result<LateInteraction> read_pylate_late_interaction(const JsonObject& config) {
  constexpr std::uint32_t kUsualQuery = 32;
  constexpr std::uint32_t kUsualDocument = 180;
  LateInteraction late;
  WEIR_ASSIGN_OR_RETURN(late.query_marker, read_marker(config, "query_prefix", "[Q] "));
  WEIR_ASSIGN_OR_RETURN(late.document_marker, read_marker(config, "document_prefix", "[D] "));
  WEIR_ASSIGN_OR_RETURN(const auto query_tokens, read_length(config, "query_length"));
  WEIR_ASSIGN_OR_RETURN(const auto document_tokens, read_length(config, "document_length"));
  WEIR_ASSIGN_OR_RETURN(const auto expands, config.boolean("do_query_expansion"));
  WEIR_ASSIGN_OR_RETURN(const auto attends, config.boolean("attend_to_expansion_tokens"));
  WEIR_ASSIGN_OR_RETURN(const auto words, config.texts("skiplist_words"));
  late.query_tokens = query_tokens.value_or(kUsualQuery);
  late.document_tokens = document_tokens.value_or(kUsualDocument);
  late.expands_queries = expands.value_or(true);
  late.attends_to_expansion = late.expands_queries && attends.value_or(false);
  // PyLate takes an empty list for none that was given.
  late.skipped_words = words && !words->empty() ? *words : punctuation();
  return late;
}

Result<LateInteraction> read_late_interaction(const MultiVectorFiles& files) {
  LateInteraction late;
  late.expands_queries = false;
  if (files.transformer != nullptr) {
    WEIR_ASSIGN_OR_RETURN(late.query_tokens, read_length(*files.transformer, "query_length"));
    WEIR_ASSIGN_OR_RETURN(late.document_tokens, read_length(*files.transformer, "document_length"));
    WEIR_RETURN_IF_ERROR(read_expansion(*files.transformer, late));
  }
  if (files.mask != nullptr) WEIR_RETURN_IF_ERROR(read_mask(*files.mask, late));
  if (files.config != nullptr) WEIR_RETURN_IF_ERROR(read_similarity(*files.config, late));
  return late;
}

}  // namespace weir::huggingface
