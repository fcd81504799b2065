#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {
namespace {

namespace fs = std::filesystem;

Error io_error(const std::string& path, const std::string& what) { return {ErrorKind::kIo, path + ": " + what, path}; }

/// A rename or a new name is durable only once its folder is synced.
void sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const ErrorKind kind = errno == ENOENT || errno == ENOTDIR ? ErrorKind::kNotFound : ErrorKind::kIo;
    return Error(kind, path + ": " + std::strerror(errno), path);
  }
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return io_error(path, "not a regular file");
  }
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int code = errno;
      ::close(fd);
      return io_error(path, std::strerror(code));
    }
    if (got == 0) break;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > limit_bytes) {
      ::close(fd);
      return Error(ErrorKind::kCorrupt, path + ": larger than the limit of " + std::to_string(limit_bytes) + " bytes",
                   path);
    }
  }
  ::close(fd);
  return content;
}

Status write_file(const std::string& path, std::string_view content) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return io_error(path, std::string("cannot be created: ") + std::strerror(errno));
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int code = errno;
      ::close(fd);
      return io_error(path, std::string("cannot be written: ") + std::strerror(code));
    }
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  const bool synced = ::fsync(fd) == 0;
  const int code = errno;
  if (::close(fd) != 0 || !synced) {
    return io_error(path, std::string("cannot be written: ") + std::strerror(synced ? errno : code));
  }
  return {};
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : target_(std::move(other.target_)), staging_(std::exchange(other.staging_, {})) {}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

Result<StagedFolder> StagedFolder::create(const std::string& target, bool replace) {
  std::error_code code;
  fs::path full = fs::absolute(target, code).lexically_normal();
  if (!full.has_filename()) full = full.parent_path();
  if (code || !full.has_filename()) {
    return Error(ErrorKind::kInvalidArgument, target + ": not a usable folder name", target);
  }
  if (fs::exists(full, code)) {
    if (!fs::is_directory(full, code)) {
      return Error(ErrorKind::kInvalidArgument, target + ": exists and is not a folder", target);
    }
    if (!replace && !fs::is_empty(full, code)) {
      return Error(ErrorKind::kInvalidArgument, target + ": the folder exists and is not empty", target);
    }
  }
  const fs::path parent = full.parent_path();
  fs::create_directories(parent, code);
  if (code) return io_error(parent.string(), "cannot be created: " + code.message());
  std::string staging = (parent / ("." + full.filename().string() + ".partial-XXXXXX")).string();
  if (mkdtemp(staging.data()) == nullptr) {
    return io_error(parent.string(), std::string("cannot be written: ") + std::strerror(errno));
  }
  chmod(staging.c_str(), 0755);
  return StagedFolder(full.string(), std::move(staging));
}

Status StagedFolder::commit() {
  sync_folder(staging_);
  std::error_code code;
  std::string old;
  if (fs::exists(target_, code)) {
    old = staging_ + ".old";
    fs::rename(target_, old, code);
    if (code) return io_error(target_, "cannot be moved away: " + code.message());
  }
  fs::rename(staging_, target_, code);
  if (code) {
    std::error_code ignored;
    if (!old.empty()) fs::rename(old, target_, ignored);
    return io_error(target_, "cannot be written: " + code.message());
  }
  staging_.clear();
  sync_folder(fs::path(target_).parent_path().string());
  if (!old.empty()) fs::remove_all(old, code);
  return {};
}

}  // namespace weir
