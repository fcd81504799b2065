// How many instances of a model, how many threads for each, and on which CPUs: a pure function of the machine and of
// what the user asked for. Every number comes with the rule that decided it, for `weir doctor` and the log.
//
// The defaults (docs/decisions/0050-sizing.md):
//   cores        physical cores this process may use, at most the cgroup quota rounded down; at least 1
//   instances    cores / 2, at most 6; below 16 GiB of memory at most memory / 4 GiB; at least 1
//   threads      cores / instances, between 1 and 4
//   arena limit  half of the usable memory / instances
//   callers      of packed models, which have no instances: threads that compute one batch each. As many as cores, or
//                instances x threads where the user set these or they are pinned
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/machine.h"

namespace weir {

enum class Pin {
  kAuto,  ///< Only where it helps and harms nobody else; the decision says which.
  kOn,
  kOff,
};

/// What the user set. 0: choose.
struct SizingRequest {
  int instances = 0;
  int threads_per_instance = 0;
  int network_threads = 0;
  int tokenize_threads = 0;
  std::uint64_t arena_limit_bytes = 0;  ///< Of ONNX Runtime, per instance.
  Pin pin = Pin::kAuto;
};

struct Decision {
  std::string name;   ///< "instances"
  std::string value;  ///< "1"
  std::string rule;   ///< "cores 2 / 2"
};

struct Sizing {
  int cores = 1;
  int instances = 1;
  int threads_per_instance = 1;
  int network_threads = 1;
  int tokenize_threads = 1;
  int packed_callers = 1;
  std::uint64_t arena_limit_bytes = 0;  ///< 0: unbounded, because the memory is not known.
  /// Per instance one logical CPU per thread; empty when not pinned.
  std::vector<std::vector<int>> instance_cpus;
  /// Where the other threads run when instances are pinned: all allowed CPUs that no instance has.
  std::vector<int> other_cpus;

  /// cores, instances, threads per instance, network threads, tokenize threads, arena limit, pinning, packed callers.
  std::vector<Decision> decisions;
  std::vector<std::string> warnings;  ///< What the user should know or change.

  bool pinned() const { return !instance_cpus.empty(); }
};

Sizing choose_sizing(const Machine& machine, const SizingRequest& request = {});

/// What is odd about the machine itself: hidden SMT, little memory, few open files, …
std::vector<std::string> machine_warnings(const Machine& machine);

}  // namespace weir
