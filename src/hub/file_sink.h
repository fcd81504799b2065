// Where the bytes of a download go: a file that may hold the first of them already. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/connection.h"

namespace weir::hub {

class FileSink {
 public:
  FileSink(FileSink&& other) noexcept;
  FileSink& operator=(FileSink&&) = delete;
  ~FileSink();

  /// Goes on with the file at `path`, or makes it; one with more than `bytes` begins anew. kIo.
  static Result<FileSink> open(const std::string& path, std::uint64_t bytes,
                               std::function<void(std::uint64_t)> on_bytes);

  std::uint64_t size() const { return size_; }

  /// Begins anew unless the answer goes on where the file ends. kMalformed: a part that was not asked for.
  Status begin(const HttpHead& head);
  /// kCorrupt: more bytes than announced; kInvalidArgument: the disk is full, or the file cannot be written.
  Status take(std::string_view bytes);
  /// Waits until the bytes are on the disk.
  Status finish();

 private:
  FileSink(int descriptor, std::string path, std::uint64_t bytes, std::function<void(std::uint64_t)> on_bytes)
      : descriptor_(descriptor), path_(std::move(path)), bytes_(bytes), on_bytes_(std::move(on_bytes)) {}
  Status truncate();
  Error failed(const char* what) const;

  int descriptor_;
  std::string path_;
  std::uint64_t bytes_;
  std::uint64_t size_ = 0;
  std::function<void(std::uint64_t)> on_bytes_;
};

}  // namespace weir::hub
