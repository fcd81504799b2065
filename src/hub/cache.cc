#include "hub/cache.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

namespace weir::hub {
namespace {

namespace fs = std::filesystem;

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr std::size_t kLargestRef = 4096;

Error failed(const std::string& path, const std::string& why) {
  return {ErrorKind::kIo, path + ": " + why + "; HF_HUB_CACHE names another folder", path};
}

Status make_folder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return failed(folder.string(), "the folder cannot be made: " + code.message());
  return {};
}

/// A name beside `path` that no other process uses.
std::string temporary(const std::string& path) { return path + "." + std::to_string(getpid()) + ".tmp"; }

Status rename_into_place(const std::string& from, const std::string& to) {
  std::error_code code;
  fs::rename(from, to, code);
  if (!code) return {};
  std::error_code ignored;
  fs::remove(from, ignored);
  return failed(to, code.message());
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<FileLock> FileLock::take(const std::string& path, const std::function<bool()>& cancelled,
                                const std::function<void()>& waiting) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664);
  if (descriptor < 0) return failed(path, std::strerror(errno));
  FileLock lock(descriptor);
  bool told = false;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return failed(path, std::string("cannot be locked: ") + std::strerror(errno));
    if (cancelled && cancelled()) return Error(ErrorKind::kCancelled, "interrupted");
    if (!std::exchange(told, true) && waiting) waiting();
    std::this_thread::sleep_for(kPoll);
  }
  return lock;
}

Cache::Cache(std::string folder, const std::string& repository_id) {
  std::string name = "models--" + repository_id;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
  locks_ = folder + "/.locks/" + name;
  folder_ = std::move(folder) + "/" + name;
}

std::optional<std::string> Cache::known_commit(const std::string& revision) const {
  if (is_commit(revision)) return revision;
  const Result<std::string> content = read_file(folder_ + "/refs/" + revision, kLargestRef);
  if (!content.ok()) return std::nullopt;
  const std::string commit = content->substr(0, content->find_first_of("\r\n "));
  return is_commit(commit) ? std::optional(commit) : std::nullopt;
}

Status Cache::remember_commit(const std::string& revision, const std::string& commit) const {
  if (revision == commit || known_commit(revision) == commit) return {};
  const std::string path = folder_ + "/refs/" + revision;
  WEIR_RETURN_IF_ERROR(make_folder(fs::path(path).parent_path()));
  WEIR_RETURN_IF_ERROR(write_file(temporary(path), commit));
  return rename_into_place(temporary(path), path);
}

bool Cache::has_file(const std::string& commit, const std::string& path) const {
  std::error_code code;
  return fs::is_regular_file(snapshot_folder(commit) + "/" + path, code);
}

std::vector<std::string> Cache::files(const std::string& commit) const {
  std::vector<std::string> found;
  std::error_code code;
  const fs::path root = snapshot_folder(commit);
  for (fs::recursive_directory_iterator it(root, code), end; !code && it != end; it.increment(code)) {
    if (it->is_regular_file(code)) found.push_back(it->path().lexically_relative(root).generic_string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Status Cache::make_folders() const {
  WEIR_RETURN_IF_ERROR(make_folder(folder_ + "/blobs"));
  return make_folder(locks_);
}

Status Cache::link(const std::string& commit, const std::string& path, const std::string& etag) const {
  const std::string place = snapshot_folder(commit) + "/" + path;
  WEIR_RETURN_IF_ERROR(make_folder(fs::path(place).parent_path()));
  const auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  std::string target;
  for (std::size_t i = 0; i < depth + 2; ++i) target += "../";
  target += "blobs/" + etag;
  std::error_code code;
  fs::remove(temporary(place), code);
  fs::create_symlink(target, temporary(place), code);
  // Some file systems have no symbolic links.
  if (code) fs::create_hard_link(blob(etag), temporary(place), code);
  if (code) return failed(place, "no link can be made: " + code.message());
  return rename_into_place(temporary(place), place);
}

}  // namespace weir::hub
