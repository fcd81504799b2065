#include "onnx/weights_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace weir::onnx {
namespace {

/// A write of many megabytes cannot be interrupted, and some file systems refuse one of more than 2 GiB.
constexpr std::size_t kMaxWriteBytes = std::size_t{16} << 20;

}  // namespace

WeightsFile::WeightsFile(std::string path, int fd, std::function<bool()> cancelled)
    : path_(std::move(path)),
      name_(std::filesystem::path(path_).filename().string()),
      cancelled_(std::move(cancelled)),
      fd_(fd) {}

WeightsFile::WeightsFile(WeightsFile&& other) noexcept
    : path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      cancelled_(std::move(other.cancelled_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      status_(std::move(other.status_)) {}

WeightsFile::~WeightsFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<WeightsFile> WeightsFile::create(const std::string& path, std::function<bool()> cancelled) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return Error(ErrorKind::kIo, path + ": cannot be created: " + std::strerror(errno), path);
  return WeightsFile(path, fd, std::move(cancelled));
}

void WeightsFile::fail(ErrorKind kind, const std::string& what) {
  if (status_.ok()) status_ = Error(kind, path_ + ": " + what, path_);
}

void WeightsFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty() && status_.ok()) {
    const ssize_t put = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(ErrorKind::kIo, std::string("cannot be written: ") + std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    size_ += static_cast<std::uint64_t>(put);
  }
}

Location WeightsFile::append(std::span<const std::byte> bytes) {
  if (cancelled_ && cancelled_()) fail(ErrorKind::kCancelled, "interrupted");
  const std::uint64_t padding = (kWeightsAlignment - size_ % kWeightsAlignment) % kWeightsAlignment;
  write(std::vector<std::byte>(padding));
  const Location location{size_, bytes.size()};
  write(bytes);
  return location;
}

Status WeightsFile::finish() {
  if (status_.ok() && ::fsync(fd_) != 0) {
    fail(ErrorKind::kIo, std::string("cannot be written: ") + std::strerror(errno));
  }
  if (::close(std::exchange(fd_, -1)) != 0) {
    fail(ErrorKind::kIo, std::string("cannot be written: ") + std::strerror(errno));
  }
  return status_;
}

}  // namespace weir::onnx
