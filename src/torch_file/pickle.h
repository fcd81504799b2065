// A state_dict's pickle to descriptions of its tensors. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir::torch_file {

/// A tensor as the pickle tells of it.
struct Described {
  std::string storage_type;  ///< "FloatStorage", …
  std::string key;           ///< The archive's entry is "…/data/KEY".
  std::uint64_t first = 0;   ///< Element of the storage.
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;
};

/// kCorrupt, kUnsupported as torch_file.h.
Result<std::map<std::string, Described>> read_pickle(std::span<const std::byte> bytes, const std::string& name);

}  // namespace weir::torch_file
