// Small files whole, and folders written so that their target name never holds half of one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir {

/// The whole of a regular file. kNotFound, kIo; kCorrupt when it is larger than `limit_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t limit_bytes);

/// Writes and syncs; on failure (a full disk, say) the file may be partial, so write into a StagedFolder. kIo.
Status write_file(const std::string& path, std::string_view content);

/// A folder under construction: created as a hidden sibling of its target, renamed to the target by commit(). Destroyed
/// uncommitted, it removes what was written; what a killed process left is removed by the next create() of the same
/// target. A target that is a symbolic link means the folder it leads to. One thread.
class StagedFolder {
 public:
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  /// kInvalidArgument when `target` exists and is not an empty folder (or, with `replace`, when it exists and is no
  /// folder) or is a link that leads nowhere; kIo when the parent cannot be written.
  static Result<StagedFolder> create(const std::string& target, bool replace = false);

  /// Where to write until commit().
  const std::string& path() const { return staging_; }

  /// Syncs and renames to the target; a replaced folder is removed after. kInvalidArgument when somebody else has made
  /// the target since create(), and it was not to be replaced; kIo.
  Status commit();

 private:
  StagedFolder(std::string target, std::string staging, int lock_fd, bool replace)
      : target_(std::move(target)), staging_(std::move(staging)), lock_fd_(lock_fd), replace_(replace) {}
  Status exchange();

  std::string target_;
  std::string staging_;
  int lock_fd_ = -1;  ///< Says that the folder is being written.
  bool replace_ = false;
};

}  // namespace weir
