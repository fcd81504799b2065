// One text through added tokens, normalizer, pre-tokenizer and model: the tokens it has before truncation and special
// tokens. The parts come from a tokenizer.json.
//
// Immutable once made; any number of threads may call run() at once, each with a Sequence of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizers/added_tokens.h"
#include "tokenizers/models/model.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/text/pieces.h"
#include "tokenizers/tokenizer.h"

namespace weir::tokenizers {

/// The tokens of a text, and the buffers that making them needs: reused, so that a token costs no allocation.
struct Sequence {
  std::vector<Token> tokens;    ///< Their places are in `pieces.text`.
  std::vector<Offset> offsets;  ///< One per token, if asked for.
  Pieces pieces;

  std::string repaired;
  Text original;
  std::vector<std::uint32_t> code_points_before;  ///< For each byte of the text.

  /// Gives memory back that an unusually long text needed.
  void shrink();
};

struct Pipeline {
  std::unique_ptr<Normalizer> normalizer;       ///< May be null.
  std::unique_ptr<PreTokenizer> pre_tokenizer;  ///< May be null.
  std::unique_ptr<Model> model;
  AddedTokens added_tokens;

  /// kTokenizer: the vocabulary has no token for a part of the text, or a regular expression took too long;
  /// kInvalidArgument: the text is too long.
  Status run(std::string_view text, bool with_offsets, Sequence& sequence) const;

 private:
  void cut(std::string_view text, bool aligned, Sequence& sequence) const;
  void add_segment(std::string_view text, std::size_t begin, std::size_t end, Sequence& sequence) const;
};

}  // namespace weir::tokenizers
