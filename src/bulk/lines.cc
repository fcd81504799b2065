#include "bulk/lines.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::bulk {
namespace {

constexpr std::size_t kBlockBytes = 1 << 16;
constexpr int kPollMs = 100;  ///< How soon a wait for a pipe notices that it should stop.

}  // namespace

Result<Lines> Lines::open(const std::string& path, std::size_t limit_bytes, std::stop_token stop) {
  Lines lines;
  lines.stop_ = std::move(stop);
  lines.path_ = path == "-" ? "standard input" : path;
  lines.limit_bytes_ = limit_bytes;
  lines.fd_ = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (lines.fd_ < 0) {
    const ErrorKind kind = errno == ENOENT || errno == ENOTDIR ? ErrorKind::kNotFound : ErrorKind::kIo;
    return Error(kind, lines.path_ + ": " + std::strerror(errno), path);
  }
  struct stat info {};
  if (::fstat(lines.fd_, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return Error(ErrorKind::kIo, lines.path_ + ": is a folder", path);
    if (S_ISREG(info.st_mode)) lines.size_ = static_cast<std::uint64_t>(info.st_size);
  }
  return lines;
}

Lines::Lines(Lines&& other) noexcept { *this = std::move(other); }

Lines& Lines::operator=(Lines&& other) noexcept {
  if (this == &other) return *this;
  if (fd_ >= 0) ::close(fd_);
  path_ = std::move(other.path_);
  fd_ = std::exchange(other.fd_, -1);
  stop_ = std::move(other.stop_);
  limit_bytes_ = other.limit_bytes_;
  size_ = other.size_;
  buffer_ = std::move(other.buffer_);
  at_ = other.at_;
  too_long_ = other.too_long_;
  number_ = other.number_;
  bytes_read_ = other.bytes_read_;
  return *this;
}

Lines::~Lines() {
  if (fd_ >= 0) ::close(fd_);
}

Status Lines::wait_readable() const {
  pollfd wanted{fd_, POLLIN, 0};
  int ready = 0;
  do {
    if (stop_.stop_requested()) return Error(ErrorKind::kCancelled, path_ + ": reading was stopped", path_);
    ready = ::poll(&wanted, 1, kPollMs);
  } while (ready == 0 || (ready < 0 && errno == EINTR));
  return {};
}

Result<bool> Lines::fill() {
  WEIR_RETURN_IF_ERROR(wait_readable());
  buffer_.resize(kBlockBytes);
  at_ = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd_, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    const int code = errno;
    buffer_.clear();
    return Error(ErrorKind::kIo, path_ + ": " + std::strerror(code), path_);
  }
  buffer_.resize(static_cast<std::size_t>(got));
  bytes_read_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

Result<bool> Lines::next(std::string& line) {
  line.clear();
  too_long_ = false;
  bool any = false;
  for (;;) {
    if (at_ == buffer_.size()) {
      WEIR_ASSIGN_OR_RETURN(const bool more, fill());
      if (!more) break;
    }
    any = true;
    const auto end = buffer_.find('\n', at_);
    const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
    if (!too_long_) line.append(buffer_, at_, stop - at_);
    if (line.size() > limit_bytes_) {
      too_long_ = true;
      line = std::string();
    }
    at_ = end == std::string::npos ? stop : stop + 1;
    if (end != std::string::npos) break;
  }
  if (!any) return false;
  ++number_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

}  // namespace weir::bulk
