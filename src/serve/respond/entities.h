// Tokens with labels to named pieces of a text, as the token-classification pipeline of `transformers` does it.
//
//   none      each token by itself
//   simple    neighbours with the same tag, unless one begins anew (B-), are one piece
//   first, average, max   before that, all tokens of a word take the label of its first token, of the mean of their
//             scores, or of the token that is surest
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/tokenizer.h"

namespace weir::serve::respond {

/// One text's tokens; special ones are left out of the result.
struct LabelledTokens {
  std::string_view text;
  const tokenizers::Encoding* encoding = nullptr;  ///< With offsets.
  const tokenizers::Tokenizer* tokenizer = nullptr;
  std::span<const float> scores;        ///< [tokens, labels]
  std::span<const std::string> labels;  ///< Those that are "O" name nothing.
};

struct Entity {
  std::string label;  ///< Without B- and I-, unless tokens stand by themselves.
  float score = 0;
  std::string word;  ///< The text from `start` to `end`.
  std::uint32_t start = 0;
  std::uint32_t end = 0;  ///< Both count code points.
};

/// `aggregation` is one of the names above.
std::vector<Entity> entities(const LabelledTokens& tokens, std::string_view aggregation);

/// [{"entity_group","score","word","start","end"}], or with "entity" where tokens stand by themselves.
std::string entities_json(std::span<const Entity> entities, std::string_view aggregation);

}  // namespace weir::serve::respond
