#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
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

enum class Lock { kTaken, kBusy, kImpossible };  // Not every file system has locks.

Lock lock(int folder_fd) {
  if (::flock(folder_fd, LOCK_EX | LOCK_NB) == 0) return Lock::kTaken;
  return errno == EWOULDBLOCK ? Lock::kBusy : Lock::kImpossible;
}

int open_folder(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

std::string staging_prefix(const fs::path& target) { return "." + target.filename().string() + ".partial-"; }

/// What a killed process left. Nobody writes to a staging folder that is not locked.
void remove_abandoned(const fs::path& target) {
  const std::string prefix = staging_prefix(target);
  std::error_code code;
  for (fs::directory_iterator entry(target.parent_path(), code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + 6) continue;
    const int fd = open_folder(entry->path().string());
    if (fd < 0) continue;
    std::error_code ignored;
    if (lock(fd) == Lock::kTaken) fs::remove_all(entry->path(), ignored);
    ::close(fd);
  }
}

/// Made and locked; the descriptor holds the lock. Another process may take a folder that is not locked yet for an
/// abandoned one: then it is made again.
Result<std::pair<std::string, int>> make_staging(const fs::path& target) {
  const std::string pattern = (target.parent_path() / (staging_prefix(target) + "XXXXXX")).string();
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string staging = pattern;
    if (mkdtemp(staging.data()) == nullptr) {
      return io_error(target.parent_path().string(), std::string("cannot be written: ") + std::strerror(errno));
    }
    const int fd = open_folder(staging);
    struct stat info {};
    if (fd >= 0 && lock(fd) != Lock::kBusy && ::stat(staging.c_str(), &info) == 0) return std::pair(staging, fd);
    if (fd >= 0) ::close(fd);
    ::rmdir(staging.c_str());
  }
  return io_error(target.parent_path().string(), "a folder made here cannot be opened and locked");
}

/// Absolute, through symbolic links, without a slash at its end; empty when it names no folder that could be made.
fs::path target_path(const std::string& target) {
  std::error_code code;
  std::error_code ignored;
  fs::path full = fs::absolute(target, code).lexically_normal();
  if (!full.has_filename()) full = full.parent_path();
  if (!code && fs::is_symlink(full, ignored)) full = fs::canonical(full, code);
  return code ? fs::path() : full;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit_bytes) {
  // Opening a pipe would otherwise wait for its other end.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
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
    : target_(std::move(other.target_)),
      staging_(std::exchange(other.staging_, {})),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      replace_(other.replace_) {}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<StagedFolder> StagedFolder::create(const std::string& target, bool replace) {
  const fs::path full = target_path(target);
  if (!full.has_filename()) {
    return Error(ErrorKind::kInvalidArgument, target + ": not a usable folder name", target);
  }
  std::error_code code;
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
  remove_abandoned(full);
  WEIR_ASSIGN_OR_RETURN(auto staging, make_staging(full));
  chmod(staging.first.c_str(), 0755);
  return StagedFolder(full.string(), std::move(staging.first), staging.second, replace);
}

Status StagedFolder::commit() {
  sync_folder(staging_);
  if (std::rename(staging_.c_str(), target_.c_str()) != 0) {
    // Somebody may have put a folder there since create() looked.
    const bool is_taken = errno == ENOTEMPTY || errno == EEXIST;
    if (!is_taken) return io_error(target_, std::string("cannot be written: ") + std::strerror(errno));
    if (!replace_) {
      return Error(ErrorKind::kInvalidArgument, target_ + ": the folder was made by somebody else in the meantime",
                   target_);
    }
    WEIR_RETURN_IF_ERROR(exchange());
  }
  staging_.clear();
  sync_folder(fs::path(target_).parent_path().string());
  return {};
}

/// The target's name holds the old folder or the new one at every moment, where the file system can do that.
Status StagedFolder::exchange() {
  std::error_code ignored;
  if (::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(staging_, ignored);
    return {};
  }
  std::error_code code;
  const std::string old = staging_ + ".old";
  fs::rename(target_, old, code);
  if (code) return io_error(target_, "cannot be moved away: " + code.message());
  fs::rename(staging_, target_, code);
  if (code) {
    fs::rename(old, target_, ignored);
    return io_error(target_, "cannot be written: " + code.message());
  }
  fs::remove_all(old, ignored);
  return {};
}

}  // namespace weir
