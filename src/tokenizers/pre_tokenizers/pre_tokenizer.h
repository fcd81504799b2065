// A pre-tokenizer cuts normalized text into the pieces that the model turns into tokens one by one. Some also rewrite
// it.
//
// Immutable once made; any number of threads may call it at once.
#pragma once

#include <memory>

#include "base/result.h"
#include "tokenizers/json/object.h"
#include "tokenizers/text/pieces.h"

namespace weir::tokenizers {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  virtual void pre_tokenize(Pieces& pieces) const = 0;

  /// True when what it does depends on where a piece stands in the original text, so that the text must be aligned.
  virtual bool needs_alignment() const { return false; }
};

/// Makes what `config` describes. kUnsupported names a type or a field that weir does not know; kCorrupt one that is
/// missing or wrong.
Result<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const json::Object& config);

}  // namespace weir::tokenizers
