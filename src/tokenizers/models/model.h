// A model turns one piece of text into tokens of its vocabulary.
//
// Immutable once made; any number of threads may call it at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizers/json/object.h"
#include "tokenizers/models/vocabulary.h"

namespace weir::tokenizers {

struct Token {
  std::int32_t id = 0;
  std::uint32_t begin = 0;  ///< In bytes: [begin, end).
  std::uint32_t end = 0;
  bool is_added = false;  ///< An added token: its text is what stands there, not what the vocabulary has.
  bool operator==(const Token&) const = default;
};

class Model {
 public:
  virtual ~Model() = default;

  /// Appends the tokens of `piece`, valid UTF-8 and not empty, to `tokens`; their places count from `base`. kTokenizer
  /// when the piece needs an unknown token and the vocabulary has none.
  virtual Status tokenize(std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const = 0;

  virtual const Vocabulary& vocabulary() const = 0;
};

/// Makes what `config` describes. kUnsupported names a type or a field that weir does not know; kCorrupt one that is
/// missing or wrong.
Result<std::unique_ptr<Model>> make_model(const json::Object& config);

}  // namespace weir::tokenizers
