// The entries of a zip archive that stores them as they are. Views of the archive's bytes. Internal to this folder.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/result.h"

namespace weir::torch_file {

/// By name. kCorrupt, kUnsupported (compressed entries; archives of more than 4 GiB).
Result<std::map<std::string, std::span<const std::byte>>> zip_entries(std::span<const std::byte> bytes,
                                                                      const std::string& name);

}  // namespace weir::torch_file
