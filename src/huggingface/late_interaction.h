// What a folder of a ColBERT model says about queries and documents, in the three forms in which such models are saved.
//
//   Stanford's               config.json's architectures are HF_ColBERT, and artifact.metadata has query_token_id,
//                            doc_token_id, query_maxlen, doc_maxlen, mask_punctuation, attend_to_mask_tokens
//   PyLate's                 modules.json has Transformer and Dense, and no Pooling; config_sentence_transformers.json
//                            has query_prefix, document_prefix, query_length, document_length, skiplist_words,
//                            do_query_expansion, attend_to_expansion_tokens
//   sentence-transformers'   modules.json has a MultiVectorMask, too, whose config.json has skiplist_words;
//                            sentence_bert_config.json has query_length, document_length and query_expansion; what says
//                            that a text is a query or a document is its prompt
//
// Pure functions. Errors are kCorrupt or kUnsupported and name file and field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "huggingface/json_object.h"

namespace weir::huggingface {

/// Texts that the tokenizer has ids for; bundle::LateInteraction says what they mean.
struct LateInteraction {
  std::optional<std::string> query_marker;  ///< Names of tokens; empty: prompts take their place.
  std::optional<std::string> document_marker;
  std::optional<std::uint32_t> query_tokens;  ///< Empty: as many as the model takes.
  std::optional<std::uint32_t> document_tokens;
  bool expands_queries = true;
  std::optional<std::string> expansion_token;  ///< Empty: the tokenizer's mask token.
  bool attends_to_expansion = false;
  std::vector<std::string> skipped_words;
  /// Stanford's skip the first token that each of those texts has, the others the token of that name.
  bool skips_by_text = false;
  bool length_normalized = false;  ///< The score is a mean, not a sum.
};

Result<LateInteraction> read_stanford_late_interaction(const JsonObject& metadata);
/// Where a field is missing, PyLate's own value for it holds.
Result<LateInteraction> read_pylate_late_interaction(const JsonObject& config);

/// The files of sentence-transformers' form; null where the folder does not have one.
struct MultiVectorFiles {
  const JsonObject* config = nullptr;       ///< config_sentence_transformers.json
  const JsonObject* transformer = nullptr;  ///< sentence_bert_config.json
  const JsonObject* mask = nullptr;         ///< MultiVectorMask's config.json
};
Result<LateInteraction> read_late_interaction(const MultiVectorFiles& files);

}  // namespace weir::huggingface
