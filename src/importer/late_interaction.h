// The tokens of a ColBERT model's queries and documents, by the ids that its tokenizer has for them. One thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "bundle/bundle.h"
#include "huggingface/layout.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {

struct LateInteractionRequest {
  const huggingface::LateInteraction* late = nullptr;
  const tokenizers::Tokenizer* tokenizer = nullptr;
  std::optional<std::string> mask_token;  ///< As the tokenizer's settings name it.
  std::uint32_t pad_token_id = 0;
  std::uint32_t max_tokens = 0;  ///< Of a role whose length is not said.
};

/// kCorrupt names a token that the tokenizer does not have. Words of the skip list that it does not have as one token
/// are left out, as sentence-transformers does.
Result<bundle::LateInteraction> find_tokens(const LateInteractionRequest& request);

/// Names of prompts for queries and documents; a text is a document where a request does not say.
void add_roles(bundle::Manifest& manifest);

}  // namespace weir::importer
