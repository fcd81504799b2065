#include "huggingface/late_interaction.h"

#include <string_view>
#include <utility>

#include "bundle/bundle.h"

namespace weir::huggingface {
namespace {

constexpr std::uint32_t kMaxTokens = 1u << 20;
constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::vector<std::string> punctuation() {
  std::vector<std::string> words;
  for (const char symbol : kPunctuation) words.emplace_back(1, symbol);
  return words;
}

Result<std::optional<std::uint32_t>> read_length(const JsonObject& object, const char* key) {
  WEIR_ASSIGN_OR_RETURN(const auto length, object.count(key, kMaxTokens));
  if (length.value_or(bundle::kLeastTokensOfARole) < bundle::kLeastTokensOfARole) {
    return object.error(key, "must be at least " + std::to_string(bundle::kLeastTokensOfARole));
  }
  return length;
}

/// Where a form has a role's marker and length, and what holds where it does not say.
struct RoleFields {
  const char* marker;
  const char* usual_marker;
  const char* length;
  std::uint32_t usual_length;
};

Status read_role(const JsonObject& object, const RoleFields& fields, std::optional<std::string>& marker,
                 std::optional<std::uint32_t>& tokens) {
  WEIR_ASSIGN_OR_RETURN(const auto given, object.text(fields.marker));
  if (given && given->empty()) return object.error(fields.marker, "is empty");
  marker = given.value_or(fields.usual_marker);
  WEIR_ASSIGN_OR_RETURN(const auto length, read_length(object, fields.length));
  tokens = length.value_or(fields.usual_length);
  return {};
}

Status read_expansion(const JsonObject& transformer, LateInteraction& late) {
  WEIR_ASSIGN_OR_RETURN(const auto expansion, transformer.object("query_expansion"));
  late.expands_queries = expansion.has_value();
  if (!expansion) return {};
  WEIR_RETURN_IF_ERROR(expansion->expect_text("strategy", "fixed"));
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
  constexpr RoleFields kQuery = {"query_token_id", "[unused0]", "query_maxlen", 32};
  constexpr RoleFields kDocument = {"doc_token_id", "[unused1]", "doc_maxlen", 220};
  LateInteraction late;
  WEIR_RETURN_IF_ERROR(metadata.expect_text("similarity", "cosine"));
  WEIR_RETURN_IF_ERROR(metadata.expect_text("interaction", "colbert"));
  WEIR_RETURN_IF_ERROR(read_role(metadata, kQuery, late.query_marker, late.query_tokens));
  WEIR_RETURN_IF_ERROR(read_role(metadata, kDocument, late.document_marker, late.document_tokens));
  WEIR_ASSIGN_OR_RETURN(const auto attends, metadata.boolean("attend_to_mask_tokens"));
  WEIR_ASSIGN_OR_RETURN(const auto skips, metadata.boolean("mask_punctuation"));
  late.attends_to_expansion = attends.value_or(false);
  if (skips.value_or(true)) late.skipped_words = punctuation();
  late.skips_by_text = true;
  return late;
}

Result<LateInteraction> read_pylate_late_interaction(const JsonObject& config) {
  constexpr RoleFields kQuery = {"query_prefix", "[Q] ", "query_length", 32};
  constexpr RoleFields kDocument = {"document_prefix", "[D] ", "document_length", 180};
  LateInteraction late;
  WEIR_RETURN_IF_ERROR(read_role(config, kQuery, late.query_marker, late.query_tokens));
  WEIR_RETURN_IF_ERROR(read_role(config, kDocument, late.document_marker, late.document_tokens));
  WEIR_ASSIGN_OR_RETURN(const auto expands, config.boolean("do_query_expansion"));
  WEIR_ASSIGN_OR_RETURN(const auto attends, config.boolean("attend_to_expansion_tokens"));
  WEIR_ASSIGN_OR_RETURN(const auto words, config.texts("skiplist_words"));
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
