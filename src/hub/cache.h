// The folder where the hub's files are kept, laid out as Python's huggingface_hub has it, so that both see what the
// other has fetched:
//
//   models--org--name/refs/main               the commit that "main" was when somebody asked last
//   models--org--name/blobs/ETAG              the files, by content; ETAG.incomplete while one is being fetched
//   models--org--name/snapshots/COMMIT/PATH   links to the blobs
//   .locks/models--org--name/ETAG.lock        held (flock) by the process that fetches ETAG
//
// Any number of processes may use it at once. A value; its functions may be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/repository.h"

namespace weir::hub {

/// Holds a lock file until destroyed.
class FileLock {
 public:
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  /// Waits for another process to be done; `waiting` is called once before it has to. kIo; kCancelled.
  static Result<FileLock> take(const std::string& path, const std::function<bool()>& cancelled,
                               const std::function<void()>& waiting);

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

class Cache {
 public:
  Cache(std::string folder, const std::string& repository_id);

  /// The commit that `revision` was last known to be.
  std::optional<std::string> known_commit(const std::string& revision) const;
  Status remember_commit(const std::string& revision, const std::string& commit) const;

  std::string snapshot_folder(const std::string& commit) const { return folder_ + "/snapshots/" + commit; }
  /// Whether the file (not a dangling link) is in the snapshot.
  bool has_file(const std::string& commit, const std::string& path) const;
  /// Paths of the snapshot's files.
  std::vector<std::string> files(const std::string& commit) const;

  std::string blob(const std::string& etag) const { return folder_ + "/blobs/" + etag; }
  std::string incomplete_blob(const std::string& etag) const { return blob(etag) + ".incomplete"; }
  std::string lock_file(const std::string& etag) const { return locks_ + "/" + etag + ".lock"; }

  /// Makes the folders that a blob and its lock lie in. kIo names the folder.
  Status make_folders() const;
  /// Makes the blob appear in the snapshot under `path`; what stood there is replaced at once.
  Status link(const std::string& commit, const std::string& path, const std::string& etag) const;

 private:
  std::string folder_;
  std::string locks_;
};

}  // namespace weir::hub
