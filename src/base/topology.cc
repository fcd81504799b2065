#include "base/topology.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include "base/file.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weir {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

std::vector<int> cpus_of(hwloc_const_bitmap_t set) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) cpus.push_back(cpu);
  return cpus;
}

std::vector<Core> read_cores(hwloc_topology_t topology) {
  std::vector<Core> cores;
  // A machine (arm64 without firmware tables, some containers) may show CPUs and no cores: each is one then.
  const bool known = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = known ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    Core core;
    core.cpus = cpus_of(object->cpuset);
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
    if (package != nullptr) core.package = static_cast<int>(package->logical_index);
    const int node = hwloc_bitmap_first(object->nodeset);
    core.numa_node = std::max(node, 0);
    if (!core.cpus.empty()) cores.push_back(std::move(core));
  }
  return cores;
}

std::vector<NumaNode> read_numa_nodes(hwloc_topology_t topology) {
  std::vector<NumaNode> nodes;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    nodes.push_back({static_cast<int>(node->os_index), node->attr->numanode.local_memory});
  }
  return nodes;
}

std::vector<Cache> read_caches(hwloc_topology_t topology) {
  struct Kind {
    hwloc_obj_type_t type;
    const char* name;
  };
  constexpr Kind kKinds[] = {{HWLOC_OBJ_L1CACHE, "L1d"},
                             {HWLOC_OBJ_L1ICACHE, "L1i"},
                             {HWLOC_OBJ_L2CACHE, "L2"},
                             {HWLOC_OBJ_L3CACHE, "L3"},
                             {HWLOC_OBJ_L4CACHE, "L4"}};
  std::vector<Cache> caches;
  for (const Kind& kind : kKinds) {
    Cache cache{kind.name, 0, 0};
    for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, kind.type, object)) != nullptr;) {
      cache.size_bytes = std::max<std::uint64_t>(cache.size_bytes, object->attr->cache.size);
      ++cache.count;
    }
    if (cache.count > 0) caches.push_back(std::move(cache));
  }
  return caches;
}

/// Loads what `configure` asked for. `flags` are hwloc's.
template <class Configure>
Result<Topology> load(unsigned long flags, ErrorKind kind, Configure configure) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return Error(ErrorKind::kBackend, "hwloc cannot be initialised");
  const Handle topology(raw);
  hwloc_topology_set_flags(raw, flags);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (configure(raw) != 0 || hwloc_topology_load(raw) != 0) {
    return Error(kind, std::string("hwloc cannot read the topology: ") + std::strerror(errno));
  }
  Topology out;
  out.packages = std::max(hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PACKAGE), 1);
  out.cores = read_cores(raw);
  out.numa_nodes = read_numa_nodes(raw);
  out.caches = read_caches(raw);
  if (out.cores.empty()) return Error(kind, "hwloc shows no CPUs");
  return out;
}

}  // namespace

int Topology::cpu_count() const {
  std::size_t count = 0;
  for (const Core& core : cores) count += core.cpus.size();
  return static_cast<int>(count);
}

int Topology::threads_per_core() const {
  std::size_t most = 1;
  for (const Core& core : cores) most = std::max(most, core.cpus.size());
  return static_cast<int>(most);
}

Result<Topology> detect_topology() {
  // Reading must not move this thread from CPU to CPU.
  constexpr unsigned long kFlags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
  return load(kFlags, ErrorKind::kBackend, [](hwloc_topology_t) { return 0; });
}

Result<Topology> synthetic_topology(const std::string& description) {
  return load(0, ErrorKind::kInvalidArgument, [&description](hwloc_topology_t topology) {
    return hwloc_topology_set_synthetic(topology, description.c_str());
  });
}

Topology flat_topology(const std::vector<int>& cpus) {
  Topology topology;
  topology.packages = 1;
  for (const int cpu : cpus) topology.cores.push_back({0, 0, {cpu}});
  topology.numa_nodes.push_back({0, 0});
  return topology;
}

std::vector<int> allowed_cpus() {
  // The kernel refuses a set smaller than its own; machines beyond cpu_set_t's 1024 CPUs need a larger one.
  for (int size = CPU_SETSIZE; size <= (1 << 16); size *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(size));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    std::vector<int> cpus;
    const bool ok = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; ok && cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (!cpus.empty()) return cpus;
  }
  std::vector<int> online;
  for (int cpu = 0; cpu < std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) online.push_back(cpu);
  return online;
}

std::string cpu_model_name(const std::string& root) {
  constexpr std::size_t kMaxFileBytes = 1 << 24;
  const Result<std::string> content = read_file(root + "/proc/cpuinfo", kMaxFileBytes);
  if (!content.ok()) return {};
  constexpr std::string_view kKey = "model name";
  const std::size_t key = ("\n" + *content).find("\n" + std::string(kKey));
  if (key == std::string::npos) return {};
  std::string_view line = std::string_view(*content).substr(key);
  line = line.substr(0, line.find('\n'));
  const std::size_t colon = line.find(':');
  const std::size_t value = line.find_first_not_of(": \t", colon);
  return colon == std::string_view::npos || value == std::string_view::npos ? std::string()
                                                                            : std::string(line.substr(value));
}

bool under_hypervisor() {
#if defined(__x86_64__)
  constexpr unsigned kHypervisorBit = 1u << 31;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kHypervisorBit) != 0;
#else
  return read_file("/sys/hypervisor/type", 64).ok();
#endif
}

}  // namespace weir
