// Small files of PyTorch's own form, as far as published heads need it (bge-m3's sparse_linear.pt and
// colbert_linear.pt): a zip archive, nothing compressed, whose data.pkl is a dictionary of plain tensors. Nothing of a
// file is run: a pickle is a program, and of its instructions only those that such dictionaries consist of are known.
//
// Values; one thread. The bytes are foreign: sizes are limited, every offset is checked. What else a file holds is
// refused by name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir::torch_file {

inline constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

struct Tensor {
  std::vector<std::uint64_t> shape;
  std::vector<float> values;  ///< Row-major.
};

/// A state_dict by the names in it. kNotFound, kIo, kCorrupt: not such a file, or it contradicts itself; kUnsupported:
/// the older form that is no zip archive, compressed entries, an element type other than float, half and bfloat16, a
/// tensor that is not contiguous, an instruction that weir does not know.
Result<std::map<std::string, Tensor>> read_state_dict(const std::string& path);
/// The same of a file's bytes. `name` is for messages.
Result<std::map<std::string, Tensor>> parse_state_dict(std::span<const std::byte> bytes, const std::string& name);

}  // namespace weir::torch_file
