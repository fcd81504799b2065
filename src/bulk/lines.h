// The lines of a file or of standard input, one at a time, whatever their length: an overlong line is skipped and said
// to be so. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace weir::bulk {

class Lines {
 public:
  /// "-" is standard input. kNotFound, kIo.
  static Result<Lines> open(const std::string& path, std::size_t limit_bytes, std::stop_token stop = {});
  Lines(Lines&& other) noexcept;
  Lines& operator=(Lines&& other) noexcept;
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines();

  /// The next line, without its "\n" or "\r\n". False at the end. kIo; kCancelled when asked to stop.
  Result<bool> next(std::string& line);
  /// Whether the last line was longer than the limit; it is empty then.
  bool too_long() const { return too_long_; }

  std::uint64_t number() const { return number_; }  ///< Of the last line, from 1.
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::optional<std::uint64_t> size() const { return size_; }  ///< Of a regular file.

 private:
  Lines() = default;
  Result<bool> fill();
  Status wait_readable() const;

  std::string path_;
  int fd_ = -1;
  std::stop_token stop_;
  std::size_t limit_bytes_ = 0;
  std::optional<std::uint64_t> size_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool too_long_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace weir::bulk
