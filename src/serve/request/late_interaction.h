// What makes a query or a document of a multi-vector model out of a tokenized text: bundle::LateInteraction says how.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "serve/request/request.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve {

/// Tokens of the longest text of a role, all included, for a model that takes `max_tokens`.
std::uint32_t role_tokens(const bundle::LateInteraction& late, bool is_query, std::uint32_t max_tokens);

/// Tokens that a text is encoded with: those, less the marker.
std::uint32_t encoded_tokens(const bundle::LateInteraction& late, bool is_query, std::uint32_t max_tokens);

/// Puts the marker, if there is one, after the first token of a text that was encoded with at most encoded_tokens(),
/// and fills a query up to role_tokens() if the model does. Offsets and special mask grow with the ids where they are
/// there.
void add_role(const bundle::LateInteraction& late, bool is_query, std::uint32_t max_tokens,
              tokenizers::Encoding& encoding);

/// A text, or a pair, alone and with nothing asked of it, as a model of the manifest takes it: of multi-vector models a
/// document. Errors are the tokenizer's.
Result<tokenizers::Encoding> encode_alone(const tokenizers::Tokenizer& tokenizer, const bundle::Manifest& manifest,
                                          const std::string& text, const std::optional<std::string>& pair);

/// Makes texts to rank of pairs that all have one query: the texts and, after them, the query, each to be computed by
/// itself.
void part_from_query(std::vector<Input>& inputs);

}  // namespace weir::serve
