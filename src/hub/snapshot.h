// A model of the hub as a folder on this machine: asks the hub what the revision is and holds, fetches what is needed
// and not in the cache yet, and says where the folder is. Without a connection, what the cache has is used.
//
// Interrupted at any point it leaves a cache that is right, and the next call goes on where this one ended. Two
// processes that want the same file wait for each other. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "hub/client.h"
#include "hub/environment.h"
#include "hub/repository.h"

namespace weir::hub {

struct Progress {
  std::string file;
  std::size_t number = 0;  ///< Of the file, from 1.
  std::size_t files = 0;
  std::uint64_t bytes = 0;         ///< There are of the file.
  std::uint64_t bytes_before = 0;  ///< Were there already.
  std::uint64_t total_bytes = 0;
};

struct SnapshotOptions {
  Environment environment;
  ClientOptions client;                           ///< Its `notice` is told also of other things that are worth a line.
  std::function<void(const Progress&)> progress;  ///< Called for every piece that arrives. May be null.
};

struct Snapshot {
  std::string folder;
  std::string commit;
  std::uint64_t downloaded_bytes = 0;
};

/// The kinds of client.h's Client; kNotFound also when the hub cannot be asked and the cache does not have the model;
/// kCorrupt: what came is not what the hub announced.
Result<Snapshot> fetch_snapshot(const Repository& repository, const SnapshotOptions& options);

}  // namespace weir::hub
