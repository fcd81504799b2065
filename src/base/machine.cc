#include "base/machine.h"

#include <algorithm>
#include <utility>

#include <sys/resource.h>

namespace weir {

std::uint64_t Machine::usable_memory_bytes() const {
  if (!cgroup.memory_bytes) return memory.total_bytes;
  return memory.total_bytes == 0 ? *cgroup.memory_bytes : std::min(*cgroup.memory_bytes, memory.total_bytes);
}

std::vector<Core> Machine::allowed_cores() const {
  std::vector<Core> cores;
  for (const Core& core : topology.cores) {
    Core usable{core.package, core.numa_node, {}};
    for (const int cpu : core.cpus) {
      if (std::binary_search(allowed_cpus.begin(), allowed_cpus.end(), cpu)) usable.cpus.push_back(cpu);
    }
    if (!usable.cpus.empty()) cores.push_back(std::move(usable));
  }
  return cores;
}

Machine detect_machine() {
  Machine machine;
  machine.cpu_name = cpu_model_name();
  machine.features = cpu::detected();
  machine.allowed_cpus = allowed_cpus();
  Result<Topology> topology = detect_topology();
  if (topology.ok()) {
    machine.topology = std::move(*topology);
  } else {
    machine.warnings.push_back(topology.error().message + "; each CPU is taken for a core");
  }
  // A topology that contradicts the affinity (odd containers) is worth nothing.
  if (machine.allowed_cores().empty()) machine.topology = flat_topology(machine.allowed_cpus);
  machine.cgroup = read_cgroup_limits();
  machine.warnings.insert(machine.warnings.end(), machine.cgroup.warnings.begin(), machine.cgroup.warnings.end());
  machine.memory = read_memory();
  machine.hypervisor = under_hypervisor();
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    machine.open_files_soft = files.rlim_cur;
    machine.open_files_hard = files.rlim_max;
  }
  return machine;
}

}  // namespace weir
