// Whether a downloaded file is what the hub announced. The hub names a file's content by its ETag: the SHA-256 of large
// files, Git's object id (SHA-1 with a header) of small ones.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::hub {

/// Whether `etag` says something about the bytes.
bool is_checksum(std::string_view etag);

/// False: the bytes are others. True also when the ETag is of no known kind. kIo, kNotFound: the file cannot be read.
Result<bool> matches_checksum(const std::string& path, std::string_view etag);

}  // namespace weir::hub
