#include "importer/late_interaction.h"

#include <cstdint>
#include <set>

namespace weir::importer {
namespace {

Result<std::uint32_t> find_token(const tokenizers::Tokenizer& tokenizer, const std::string& token,
                                 const std::string& role) {
  if (const auto id = tokenizer.token_to_id(token)) return static_cast<std::uint32_t>(*id);
  return Error(ErrorKind::kCorrupt,
               "tokenizer.json: has no token '" + token + "', which the model's files name as its " + role,
               "tokenizer.json");
}

Result<std::set<std::uint32_t>> skipped_tokens(const LateInteractionRequest& request) {
  std::set<std::uint32_t> ids;
  for (const std::string& word : request.late->skipped_words) {
    if (!request.late->skips_by_text) {
      if (const auto id = request.tokenizer->token_to_id(word)) ids.insert(static_cast<std::uint32_t>(*id));
      continue;
    }
    tokenizers::EncodeOptions options;
    options.add_special_tokens = false;
    WEIR_ASSIGN_OR_RETURN(const auto encoding, request.tokenizer->encode(word, options));
    if (!encoding.ids.empty()) ids.insert(static_cast<std::uint32_t>(encoding.ids.front()));
  }
  // Stanford's code takes a pad token in a text for padding.
  if (request.late->skips_by_text) ids.insert(request.pad_token_id);
  return ids;
}

}  // namespace

Result<bundle::LateInteraction> find_tokens(const LateInteractionRequest& request) {
  const huggingface::LateInteraction& late = *request.late;
  bundle::LateInteraction found;
  found.query_tokens = late.query_tokens.value_or(request.max_tokens);
  found.document_tokens = late.document_tokens.value_or(request.max_tokens);
  found.attend_to_expansion = late.attends_to_expansion;
  found.length_normalized = late.length_normalized;
  if (late.query_marker) {
    WEIR_ASSIGN_OR_RETURN(found.query_marker, find_token(*request.tokenizer, *late.query_marker, "mark of queries"));
  }
  if (late.document_marker) {
    WEIR_ASSIGN_OR_RETURN(found.document_marker,
                          find_token(*request.tokenizer, *late.document_marker, "mark of documents"));
  }
  if (late.expands_queries) {
    const auto& token = late.expansion_token ? late.expansion_token : request.mask_token;
    if (!token) {
      return Error(ErrorKind::kCorrupt,
                   "tokenizer_config.json: field 'mask_token': missing; the model fills its queries up with it",
                   "tokenizer_config.json");
    }
    WEIR_ASSIGN_OR_RETURN(found.expansion_token, find_token(*request.tokenizer, *token, "token that fills queries up"));
  }
  WEIR_ASSIGN_OR_RETURN(const std::set<std::uint32_t> skipped, skipped_tokens(request));
  found.skipped_tokens.assign(skipped.begin(), skipped.end());
  return found;
}

void add_roles(bundle::Manifest& manifest) {
  manifest.prompts.emplace(bundle::kQueryPrompt, "");
  manifest.prompts.emplace(bundle::kDocumentPrompt, "");
  if (!manifest.default_prompt) manifest.default_prompt = bundle::kDocumentPrompt;
}

}  // namespace weir::importer
