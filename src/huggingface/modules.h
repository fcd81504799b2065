// modules.json: of which parts a sentence-transformers or PyLate model is made. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "huggingface/json_object.h"

namespace weir::huggingface {

/// Folders of the parts, within the model's; empty ones are the model's own.
struct Modules {
  std::string transformer;
  std::optional<std::string> pooling;
  bool pools_words = false;               ///< The pooling is SPLADE's.
  std::vector<std::string> dense;         ///< On what a Pooling made; without one, on tokens. In their order.
  std::optional<std::string> token_mask;  ///< MultiVectorMask: which tokens' vectors count.
  std::optional<std::string> normalize;

  /// Whether the parts make a vector of each token, as ColBERT's do.
  bool interact_late() const { return !pooling && !dense.empty(); }
};

/// The file's objects, in their order; `path` is for messages. kUnsupported names a part that weir does not have, or
/// parts in another order than these; kCorrupt a field.
Result<Modules> read_modules(const std::vector<JsonObject>& objects, const std::string& path);

}  // namespace weir::huggingface
