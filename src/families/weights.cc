#include "families/weights.h"

#include <algorithm>
#include <cmath>

namespace weir::families {
namespace {

Error bad_tensor(const safetensors::Tensor& tensor, const std::string& what) {
  return {ErrorKind::kCorrupt, tensor.file + ": tensor '" + tensor.name + "': " + what, tensor.file};
}

}  // namespace

/// Blocks, so that both sides stay in the cache.
std::vector<float> transposed(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kBlock = 32;
  std::vector<float> result(values.size());
  for (std::size_t row0 = 0; row0 < rows; row0 += kBlock) {
    for (std::size_t column0 = 0; column0 < columns; column0 += kBlock) {
      const std::size_t row_end = std::min(rows, row0 + kBlock);
      const std::size_t column_end = std::min(columns, column0 + kBlock);
      for (std::size_t row = row0; row < row_end; ++row) {
        for (std::size_t column = column0; column < column_end; ++column) {
          result[column * rows + row] = values[row * columns + column];
        }
      }
    }
  }
  return result;
}

Result<std::vector<float>> Weights::take(const std::vector<std::string>& names,
                                         const std::vector<std::uint64_t>& shape) {
  const safetensors::Tensor* tensor = nullptr;
  for (const std::string& name : names) {
    tensor = checkpoint_.find(name);
    if (tensor != nullptr) break;
  }
  if (tensor == nullptr) {
    return Error(ErrorKind::kCorrupt,
                 checkpoint_.files().front() + ": tensor '" + names.front() + "' is missing; config.json asks for it",
                 checkpoint_.files().front());
  }
  if (tensor->shape != shape) {
    return bad_tensor(*tensor, "config.json asks for shape " + safetensors::shape_text(shape) + ", found " +
                                   safetensors::shape_text(tensor->shape));
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<float> values, tensor->floats());
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad != values.end()) {
    return bad_tensor(*tensor, std::string("holds ") + (std::isnan(*bad) ? "NaN" : "Inf") + " at element " +
                                   std::to_string(bad - values.begin()) +
                                   "; the file is damaged or the training failed");
  }
  taken_.insert(tensor->name);
  return values;
}

std::vector<std::string> Weights::left_over() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : checkpoint_.tensors()) {
    if (!taken_.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace weir::families
