// A normalizer rewrites text before it is cut: lower case, Unicode normal forms, and the like. It keeps for every byte
// where in the original it came from.
//
// Immutable once made; any number of threads may call it at once.
#pragma once

#include <memory>

#include "base/result.h"
#include "tokenizers/json/object.h"
#include "tokenizers/text/text.h"

namespace weir::tokenizers {

class Normalizer {
 public:
  virtual ~Normalizer() = default;

  /// Appends what becomes of `in` to `out`, which is aligned exactly when `in` is. They do not share memory.
  virtual void normalize(const Segment& in, Text& out) const = 0;
};

/// Makes what `config` describes. kUnsupported names a type or a field that weir does not know; kCorrupt one that is
/// missing or wrong.
Result<std::unique_ptr<Normalizer>> make_normalizer(const json::Object& config);

}  // namespace weir::tokenizers
