// A checkpoint's tensors as a family takes them: by name and shape, as floats, each checked. Remembers what was taken,
// so that what is left over can be told.
//
// One thread. The checkpoint must outlive it. Errors are kCorrupt or kUnsupported and name file and tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "safetensors/checkpoint.h"

namespace weir::families {

/// [rows, columns] to [columns, rows]: a linear layer's weights in the order of a product.
std::vector<float> transposed(const std::vector<float>& values, std::size_t rows, std::size_t columns);

class Weights {
 public:
  explicit Weights(const safetensors::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  bool has(std::string_view name) const { return checkpoint_.find(name) != nullptr; }

  /// The tensor of the first of `names` that is there; the rest are older spellings. NaN and Inf are refused.
  Result<std::vector<float>> take(const std::vector<std::string>& names, const std::vector<std::uint64_t>& shape);

  /// Names of tensors that nobody took.
  std::vector<std::string> left_over() const;

 private:
  const safetensors::Checkpoint& checkpoint_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace weir::families
