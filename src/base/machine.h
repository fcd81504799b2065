// All that weir knows about the machine and what this process may use of it. A plain value: sizing and `weir doctor`
// are functions of it, and tests make up machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cgroup.h"
#include "base/cpu_features.h"
#include "base/memory.h"
#include "base/topology.h"

namespace weir {

struct Machine {
  std::string cpu_name;
  cpu::Features features;
  Topology topology;
  std::vector<int> allowed_cpus;  ///< Ascending.
  CgroupLimits cgroup;
  Memory memory;
  bool hypervisor = false;
  std::uint64_t open_files_soft = 0;  ///< RLIMIT_NOFILE.
  std::uint64_t open_files_hard = 0;
  std::vector<std::string> warnings;  ///< What could not be read.

  /// What this process can have: the machine's memory, or the cgroup's limit if that is less.
  std::uint64_t usable_memory_bytes() const;
  /// The cores that have an allowed CPU, with only the allowed CPUs.
  std::vector<Core> allowed_cores() const;
};

/// This machine. What cannot be read is replaced by the plainest assumption and named in `warnings`.
Machine detect_machine();

}  // namespace weir
