// Linear layers that stand behind a Transformer in files of their own: sentence-transformers' and PyLate's Dense, and
// Stanford's `linear`. One thread. Errors are kCorrupt or kUnsupported and name file and field; else as torch_file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "families/family.h"
#include "safetensors/checkpoint.h"

namespace weir::importer {

struct DenseRequest {
  std::string root;                ///< The model's folder.
  std::vector<std::string> paths;  ///< Of the layers' folders in it, in their order.
  std::uint32_t inputs = 0;        ///< Of the first one.
  bool on_tokens = false;          ///< PyLate's, not sentence-transformers'.
};

/// Adds what was read to `files`.
Result<std::vector<families::DenseLayer>> read_dense(const DenseRequest& request, std::vector<std::string>& files);

/// Stanford's: the tensor linear.weight beside the encoder's.
Result<families::DenseLayer> read_stanford_linear(const safetensors::Checkpoint& checkpoint, std::uint32_t inputs);

}  // namespace weir::importer
