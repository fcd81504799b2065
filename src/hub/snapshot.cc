#include "hub/snapshot.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "hub/cache.h"
#include "hub/checksum.h"
#include "hub/model_files.h"

namespace weir::hub {
namespace {

namespace fs = std::filesystem;

/// What stays free on the disk.
constexpr std::uint64_t kSpareBytes = 64 << 20;

class Fetch {
 public:
  Fetch(const Repository& repository, const SnapshotOptions& options)
      : repository_(repository),
        options_(options),
        client_(options.environment, options.client),
        cache_(options.environment.cache_folder, repository.id) {}

  Result<Snapshot> run() {
    if (options_.environment.offline) return from_cache("HF_HUB_OFFLINE is set");
    const Result<Revision> revision = client_.revision(repository_);
    if (!revision.ok()) return without_hub(revision.error());
    WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> files, choose_files(revision->files, repository_.text()));
    commit_ = revision->commit;
    WEIR_RETURN_IF_ERROR(cache_.make_folders());
    for (std::size_t i = 0; i < files.size(); ++i) {
      progress_ = {files[i], i + 1, files.size(), 0, 0, 0};
      if (!cache_.has_file(commit_, files[i])) WEIR_RETURN_IF_ERROR(fetch(files[i]));
    }
    WEIR_RETURN_IF_ERROR(cache_.remember_commit(repository_.revision, commit_));
    return snapshot();
  }

 private:
  Snapshot snapshot() const { return {cache_.snapshot_folder(commit_), commit_, downloaded_}; }

  /// What a hub that cannot be reached means: the cache is as good as it gets.
  Result<Snapshot> without_hub(const Error& error) {
    if (error.kind != ErrorKind::kIo && error.kind != ErrorKind::kUnavailable) return error;
    Result<Snapshot> cached = from_cache(error.message);
    if (cached.ok() && options_.client.notice) {
      options_.client.notice(error.message + "; using " + repository_.text() + " as it is in the cache");
    }
    return cached;
  }

  Result<Snapshot> from_cache(const std::string& why) {
    const auto commit = cache_.known_commit(repository_.revision);
    const Result<std::vector<std::string>> files =
        choose_files(commit ? cache_.files(*commit) : std::vector<std::string>(), repository_.text());
    if (!commit || !files.ok()) {
      return Error(ErrorKind::kNotFound,
                   repository_.text() + ": not in the cache " + options_.environment.cache_folder + ", and " + why);
    }
    commit_ = *commit;
    return snapshot();
  }

  Status fetch(const std::string& path) {
    WEIR_ASSIGN_OR_RETURN(const FileInfo info, client_.file_info(repository_, commit_, path));
    if (!has_blob(info)) WEIR_RETURN_IF_ERROR(fetch_blob(path, info));
    return cache_.link(commit_, path, info.etag);
  }

  bool has_blob(const FileInfo& info) const {
    std::error_code code;
    return fs::file_size(cache_.blob(info.etag), code) == info.bytes && !code;
  }

  Status fetch_blob(const std::string& path, const FileInfo& info) {
    WEIR_ASSIGN_OR_RETURN(const FileLock lock,
                          FileLock::take(cache_.lock_file(info.etag), options_.client.http.cancelled,
                                         [&] { notice(path + ": another process is fetching it; waiting"); }));
    if (has_blob(info)) return {};  // That process was done meanwhile.
    const std::string incomplete = cache_.incomplete_blob(info.etag);
    WEIR_RETURN_IF_ERROR(check_space(incomplete, info.bytes));
    WEIR_RETURN_IF_ERROR(download(path, info, incomplete));
    WEIR_ASSIGN_OR_RETURN(bool is_right, matches_checksum(incomplete, info.etag));
    std::error_code code;
    if (!is_right) {
      // The part that was there may have been damaged.
      notice(path + ": its checksum is wrong; fetching it again");
      fs::remove(incomplete, code);
      WEIR_RETURN_IF_ERROR(download(path, info, incomplete));
      WEIR_ASSIGN_OR_RETURN(is_right, matches_checksum(incomplete, info.etag));
    }
    if (!is_right) {
      fs::remove(incomplete, code);
      return Error(ErrorKind::kCorrupt,
                   repository_.text() + ": " + path +
                       ": what came is not what the hub announced (its "
                       "checksum is wrong)",
                   path);
    }
    fs::rename(incomplete, cache_.blob(info.etag), code);
    if (code) return Error(ErrorKind::kIo, cache_.blob(info.etag) + ": " + code.message(), cache_.blob(info.etag));
    return {};
  }

  Status download(const std::string& path, const FileInfo& info, const std::string& incomplete) {
    std::error_code code;
    const std::uint64_t there = fs::exists(incomplete, code) ? fs::file_size(incomplete, code) : 0;
    progress_.bytes_before = there <= info.bytes ? there : 0;
    progress_.total_bytes = info.bytes;
    tell(progress_.bytes_before);
    WEIR_RETURN_IF_ERROR(client_.download(repository_, commit_, path, info.bytes, incomplete,
                                          [this](std::uint64_t bytes) { tell(bytes); }));
    downloaded_ += info.bytes - progress_.bytes_before;
    return {};
  }

  void tell(std::uint64_t bytes) {
    progress_.bytes = bytes;
    if (options_.progress) options_.progress(progress_);
  }

  Status check_space(const std::string& incomplete, std::uint64_t bytes) const {
    std::error_code code;
    const fs::path folder = fs::path(incomplete).parent_path();
    const fs::space_info space = fs::space(folder, code);
    const std::uint64_t there = fs::exists(incomplete, code) ? fs::file_size(incomplete, code) : 0;
    const std::uint64_t needed = bytes - std::min(bytes, there) + kSpareBytes;
    if (code || space.available >= needed) return {};
    return Error(ErrorKind::kIo,
                 folder.string() + ": " + std::to_string(needed >> 20) + " MiB are needed, " +
                     std::to_string(space.available >> 20) + " are free; HF_HUB_CACHE names another folder",
                 "HF_HUB_CACHE");
  }

  void notice(const std::string& text) const {
    if (options_.client.notice) options_.client.notice(text);
  }

  const Repository& repository_;
  const SnapshotOptions& options_;
  Client client_;
  Cache cache_;
  std::string commit_;
  Progress progress_;
  std::uint64_t downloaded_ = 0;
};

}  // namespace

Result<Snapshot> fetch_snapshot(const Repository& repository, const SnapshotOptions& options) {
  return Fetch(repository, options).run();
}

}  // namespace weir::hub
