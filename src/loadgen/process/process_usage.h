// What a process and its children use, as /proc tells. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace weir::loadgen {

struct ProcessUsage {
  double cpu_seconds = 0;            ///< Of the process and all its children, those that have ended included.
  std::uint64_t resident_bytes = 0;  ///< Pages that several processes share are counted in each.
  int processes = 0;
};

/// Nothing when there is no such process. `root` is put before "/proc"; "" is this machine.
std::optional<ProcessUsage> read_process_usage(pid_t pid, const std::string& root = "");

}  // namespace weir::loadgen
