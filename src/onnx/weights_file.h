// The external file of a graph's initializers, written once from front to back. Each tensor begins on a page, so that
// ONNX Runtime maps it and the page cache is shared by instances and processes.
//
// One thread. A failed write sticks: what follows does nothing, and finish() returns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace weir::onnx {

inline constexpr std::uint64_t kWeightsAlignment = 4096;

/// Where a tensor's bytes lie in a weights file.
struct Location {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class WeightsFile {
 public:
  /// Creates or overwrites. `cancelled`, if given, is asked before each tensor. kIo.
  static Result<WeightsFile> create(const std::string& path, std::function<bool()> cancelled = {});

  WeightsFile(WeightsFile&& other) noexcept;
  WeightsFile& operator=(WeightsFile&&) = delete;
  WeightsFile(const WeightsFile&) = delete;
  WeightsFile& operator=(const WeightsFile&) = delete;
  ~WeightsFile();

  /// The file's own name, as a graph beside it refers to it.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  /// Appends a tensor's bytes at the next page.
  Location append(std::span<const std::byte> bytes);

  /// Syncs and closes. kIo (a full disk, say), kCancelled: the first failure of all that was written.
  Status finish();

 private:
  WeightsFile(std::string path, int fd, std::function<bool()> cancelled);
  void write(std::span<const std::byte> bytes);
  void fail(ErrorKind kind, const std::string& what);

  std::string path_;
  std::string name_;
  std::function<bool()> cancelled_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  Status status_;
};

}  // namespace weir::onnx
