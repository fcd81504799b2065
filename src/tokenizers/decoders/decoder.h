// A decoder turns tokens back into text.
//
// Immutable once made; any number of threads may call it at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tokenizers/json/object.h"

namespace weir::tokenizers {

class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Changes the tokens so that the text is what they give when they are joined. It may join or drop some.
  virtual void decode(std::vector<std::string>& tokens) const = 0;
};

/// Makes what `config` describes. kUnsupported names a type or a field that weir does not know; kCorrupt one that is
/// missing or wrong.
Result<std::unique_ptr<Decoder>> make_decoder(const json::Object& config);

}  // namespace weir::tokenizers
