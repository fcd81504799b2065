#include "hub/file_sink.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::hub {

FileSink::FileSink(FileSink&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      bytes_(other.bytes_),
      size_(other.size_),
      on_bytes_(std::move(other.on_bytes_)) {}

FileSink::~FileSink() {
  if (descriptor_ >= 0) close(descriptor_);
}

/// Not kIo: that is for the network, and tried again.
Error FileSink::failed(const char* what) const {
  return {ErrorKind::kInvalidArgument, path_ + ": " + what + ": " + std::strerror(errno), path_};
}

Result<FileSink> FileSink::open(const std::string& path, std::uint64_t bytes,
                                std::function<void(std::uint64_t)> on_bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0664);
  FileSink sink(descriptor, path, bytes, std::move(on_bytes));
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return sink.failed("cannot be written");
  sink.size_ = static_cast<std::uint64_t>(status.st_size);
  if (sink.size_ > bytes) WEIR_RETURN_IF_ERROR(sink.truncate());
  return sink;
}

Status FileSink::truncate() {
  if (ftruncate(descriptor_, 0) != 0) return failed("cannot be emptied");
  size_ = 0;
  return {};
}

Status FileSink::begin(const HttpHead& head) {
  if (head.status != 206) return size_ == 0 ? Status() : truncate();
  const std::string expected = "bytes " + std::to_string(size_) + "-";
  if (head.header("content-range").starts_with(expected)) return {};
  return Error(ErrorKind::kMalformed, path_ + ": the hub sent another part of the file than it was asked for");
}

Status FileSink::take(std::string_view bytes) {
  if (bytes.size() > bytes_ - size_) {
    return Error(ErrorKind::kCorrupt, path_ + ": the hub sent more bytes than it announced", path_);
  }
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("cannot be written");
    size_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (on_bytes_) on_bytes_(size_);
  return {};
}

Status FileSink::finish() { return fdatasync(descriptor_) == 0 ? Status() : Status(failed("cannot be synced")); }

}  // namespace weir::hub
