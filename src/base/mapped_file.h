// A read-only memory mapping of a whole regular file. Movable, unmaps when destroyed. Reading from several threads is
// safe. Weights are read this way: no copy, and the page cache is shared by instances and processes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace weir {

class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Fails with kNotFound when there is no such file, kIo when it cannot be read or is not a regular file. An empty
  /// file maps to an empty span.
  static Result<MappedFile> open(const std::string& path);

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weir
