// Packages, physical cores, their hardware threads, NUMA nodes and caches of a machine. Values, made once by hwloc;
// sizing and `weir doctor` read them, tests make up their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir {

/// A physical core. CPUs and NUMA nodes carry the operating system's numbers.
struct Core {
  int package = 0;
  int numa_node = 0;
  std::vector<int> cpus;  ///< Its hardware threads (SMT siblings), ascending.
};

/// All caches of one level and kind.
struct Cache {
  std::string name;              ///< "L1d", "L1i", "L2", …
  std::uint64_t size_bytes = 0;  ///< Of one.
  int count = 0;
};

struct NumaNode {
  int number = 0;
  std::uint64_t memory_bytes = 0;
};

struct Topology {
  int packages = 0;
  std::vector<Core> cores;  ///< Of the whole machine, those this process may not use included.
  std::vector<NumaNode> numa_nodes;
  std::vector<Cache> caches;

  int cpu_count() const;
  /// The most hardware threads that a core shows: 1 without SMT.
  int threads_per_core() const;
};

/// This machine. kBackend when hwloc cannot tell.
Result<Topology> detect_topology();

/// A machine after a description in hwloc's synthetic format, such as "package:2 core:32 pu:2". kInvalidArgument.
Result<Topology> synthetic_topology(const std::string& description);

/// One core per CPU, one NUMA node: what is assumed when nothing better is known.
Topology flat_topology(const std::vector<int>& cpus);

/// The logical CPUs that this process may run on (sched_getaffinity), ascending. Never empty.
std::vector<int> allowed_cpus();

/// The CPU's name for people, from /proc/cpuinfo below `root`; empty when it has none.
std::string cpu_model_name(const std::string& root = "");

/// True when the CPU says that a hypervisor runs below.
bool under_hypervisor();

}  // namespace weir
