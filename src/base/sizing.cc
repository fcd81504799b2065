#include "base/sizing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

namespace weir {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
constexpr int kMaxInstances = 6;
constexpr int kMaxThreads = 4;
constexpr std::uint64_t kAmpleMemoryBytes = 16 * kGib;
constexpr std::uint64_t kMemoryPerInstanceBytes = 4 * kGib;
/// Below this many cores the system needs the freedom to move threads more than instances need still CPUs.
constexpr int kMinCoresToPin = 8;

std::string text(int value) { return std::to_string(value); }

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

/// Chooses the numbers in their order; each may use those before it.
class Chooser {
 public:
  Chooser(const Machine& machine, const SizingRequest& request)
      : machine_(machine), request_(request), allowed_(machine.allowed_cores()) {}

  Sizing choose() {
    choose_cores();
    choose_instances();
    choose_threads();
    choose_other_threads();
    choose_arena();
    choose_pinning();
    add_warnings();
    choose_packed_callers();
    return std::move(out_);
  }

 private:
  void decide(std::string name, std::string value, std::string rule) {
    out_.decisions.push_back({std::move(name), std::move(value), std::move(rule)});
  }

  void choose_cores() {
    const int allowed = std::max(1, static_cast<int>(allowed_.size()));
    std::string rule = "physical cores " + text(allowed);
    const int all = static_cast<int>(machine_.topology.cores.size());
    if (allowed < all) rule += " of " + text(all) + " allowed by CPU affinity or cpuset";
    out_.cores = allowed;
    const std::optional<double>& quota = machine_.cgroup.cpu_quota;
    // Rounded down: what is left of a CPU serves the network threads, and more computing threads than quota are
    // throttled in the middle of a batch.
    if (quota && *quota < allowed) {
      out_.cores = std::max(1, static_cast<int>(std::floor(*quota)));
      rule = "cgroup quota " + text(*quota) + " CPUs, rounded down (" + rule + ")";
    }
    decide("cores", text(out_.cores), std::move(rule));
  }

  void choose_instances() {
    if (request_.instances > 0) {
      out_.instances = request_.instances;
      return decide("instances", text(out_.instances), "set by the user");
    }
    int instances = out_.cores / 2;
    std::string rule = "cores " + text(out_.cores) + " / 2";
    const auto limit = [&](int most, const std::string& why) {
      if (instances <= most) return;
      instances = most;
      rule = why;
    };
    limit(kMaxInstances, "at most " + text(kMaxInstances));
    const std::uint64_t memory = machine_.usable_memory_bytes();
    if (memory != 0 && memory < kAmpleMemoryBytes) {
      limit(static_cast<int>(memory / kMemoryPerInstanceBytes), "memory " + format_bytes(memory) + " / 4 GiB");
    }
    if (request_.threads_per_instance > 0) {
      limit(out_.cores / request_.threads_per_instance,
            "cores " + text(out_.cores) + " / threads " + text(request_.threads_per_instance));
    }
    if (instances < 1) rule += ", at least 1";
    out_.instances = std::max(1, instances);
    decide("instances", text(out_.instances), std::move(rule));
  }

  void choose_threads() {
    if (request_.threads_per_instance > 0) {
      out_.threads_per_instance = request_.threads_per_instance;
      return decide("threads per instance", text(out_.threads_per_instance), "set by the user");
    }
    const int share = out_.cores / out_.instances;
    out_.threads_per_instance = std::clamp(share, 1, kMaxThreads);
    std::string rule = "cores " + text(out_.cores) + " / instances " + text(out_.instances);
    if (share > kMaxThreads) rule += ", at most " + text(kMaxThreads);
    if (share < 1) rule += ", at least 1";
    decide("threads per instance", text(out_.threads_per_instance), std::move(rule));
  }

  void choose_other_threads() {
    // One network thread carries tens of thousands of requests a second; more only spread parsing of large bodies.
    const int network = std::clamp(out_.cores / 8, 1, kMaxThreads);
    const int tokenize = std::clamp(out_.cores / 4, 1, kMaxThreads);
    out_.network_threads = request_.network_threads > 0 ? request_.network_threads : network;
    out_.tokenize_threads = request_.tokenize_threads > 0 ? request_.tokenize_threads : tokenize;
    const std::string cores = "cores " + text(out_.cores);
    decide("network threads", text(out_.network_threads),
           request_.network_threads > 0 ? "set by the user" : cores + " / 8, between 1 and 4");
    decide("tokenize threads", text(out_.tokenize_threads),
           request_.tokenize_threads > 0 ? "set by the user" : cores + " / 4, between 1 and 4");
  }

  /// Together the arenas may take half of the memory: the rest is for weights, requests and the page cache.
  void choose_arena() {
    const std::uint64_t memory = machine_.usable_memory_bytes();
    std::string rule = "set by the user";
    out_.arena_limit_bytes = request_.arena_limit_bytes;
    if (request_.arena_limit_bytes == 0) {
      out_.arena_limit_bytes = memory / 2 / static_cast<std::uint64_t>(out_.instances);
      rule = memory == 0 ? "the memory is not known"
                         : "memory " + format_bytes(memory) + " / 2 / instances " + text(out_.instances);
    }
    const std::uint64_t limit = out_.arena_limit_bytes;
    decide("arena limit", limit == 0 ? "none" : format_bytes(limit), std::move(rule));
  }

  /// Why pinning is left off; empty when nothing speaks against it.
  std::string reason_not_to_pin() const {
    if (request_.pin == Pin::kOff) return "set by the user";
    const int wanted = out_.instances * out_.threads_per_instance;
    const int cpus = static_cast<int>(machine_.allowed_cpus.size());
    if (wanted > cpus) return text(wanted) + " threads are more than the " + text(cpus) + " allowed CPUs";
    if (request_.pin == Pin::kOn) return {};
    // With a quota, the CPUs are shared: a neighbour that pins by the same rule would take the very same ones.
    if (machine_.cgroup.cpu_quota) return "a cgroup quota means that the CPUs are shared with others";
    if (out_.cores < kMinCoresToPin) return "fewer than " + text(kMinCoresToPin) + " cores";
    if (wanted >= cpus) return "no CPU would be left for the network";
    return {};
  }

  void choose_pinning() {
    const std::string reason = reason_not_to_pin();
    if (!reason.empty()) return decide("pinning", "off", reason);
    place_instances();
    std::vector<int> taken;
    for (const std::vector<int>& cpus : out_.instance_cpus) taken.insert(taken.end(), cpus.begin(), cpus.end());
    std::sort(taken.begin(), taken.end());
    std::set_difference(machine_.allowed_cpus.begin(), machine_.allowed_cpus.end(), taken.begin(), taken.end(),
                        std::back_inserter(out_.other_cpus));
    const std::string left = text(static_cast<int>(out_.other_cpus.size())) + " CPUs left for the network";
    decide("pinning", "on",
           request_.pin == Pin::kOn ? "set by the user" : text(out_.cores) + " cores, no quota, " + left);
  }

  /// Free CPUs by NUMA node, best first: a CPU of every core before any second hardware thread of one.
  std::map<int, std::vector<int>> free_by_node() const {
    std::map<int, std::vector<int>> free;
    for (std::size_t sibling = 0; sibling < static_cast<std::size_t>(machine_.topology.threads_per_core()); ++sibling) {
      for (const Core& core : allowed_) {
        if (sibling < core.cpus.size()) free[core.numa_node].push_back(core.cpus[sibling]);
      }
    }
    return free;
  }

  void place_instances() {
    std::map<int, std::vector<int>> free = free_by_node();
    const auto threads = static_cast<std::size_t>(out_.threads_per_instance);
    for (int i = 0; i < out_.instances; ++i) {
      // The node with most room, so that instances spread and second hardware threads come last.
      const auto best = std::max_element(
          free.begin(), free.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
      std::vector<int> cpus;
      const bool fits = best->second.size() >= threads;
      for (auto node = fits ? best : free.begin(); cpus.size() < threads; ++node) {
        const std::size_t take = std::min(threads - cpus.size(), node->second.size());
        cpus.insert(cpus.end(), node->second.begin(), node->second.begin() + static_cast<std::ptrdiff_t>(take));
        node->second.erase(node->second.begin(), node->second.begin() + static_cast<std::ptrdiff_t>(take));
      }
      out_.instance_cpus.push_back(std::move(cpus));
    }
  }

  void add_warnings() {
    const int wanted = out_.instances * out_.threads_per_instance;
    if (wanted > out_.cores) {
      out_.warnings.push_back(text(out_.instances) + " instances x " + text(out_.threads_per_instance) +
                              " threads are more than the " + text(out_.cores) +
                              " cores: they will take turns, and latency grows; lower --instances or --threads");
    }
    if (wanted < out_.cores && out_.cores - wanted > out_.network_threads + out_.tokenize_threads) {
      out_.warnings.push_back(text(wanted) + " of " + text(out_.cores) +
                              " cores compute; raise --instances to use more, if memory allows");
    }
    if (request_.pin == Pin::kOn && !out_.pinned()) {
      out_.warnings.push_back("--pin on is not possible: " + out_.decisions.back().rule);
    }
  }

  void choose_packed_callers() {
    const bool set = request_.instances > 0 || request_.threads_per_instance > 0;
    const int computing = out_.instances * out_.threads_per_instance;
    out_.packed_callers = set || out_.pinned() ? computing : out_.cores;
    const std::string product = "instances " + text(out_.instances) + " x threads " + text(out_.threads_per_instance);
    std::string rule = "cores " + text(out_.cores);
    if (out_.pinned()) rule = product + ", pinned";
    if (set) rule = product + ", set by the user";
    decide("packed callers", text(out_.packed_callers), std::move(rule));
  }

  const Machine& machine_;
  const SizingRequest& request_;
  std::vector<Core> allowed_;
  Sizing out_;
};

}  // namespace

Sizing choose_sizing(const Machine& machine, const SizingRequest& request) {
  return Chooser(machine, request).choose();
}

std::vector<std::string> machine_warnings(const Machine& machine) {
  constexpr std::uint64_t kFewOpenFiles = 4096;
  std::vector<std::string> warnings = machine.warnings;
  const std::optional<double>& quota = machine.cgroup.cpu_quota;
  const int cores = static_cast<int>(machine.allowed_cores().size());
  if (quota && *quota < cores) {
    warnings.push_back("the cgroup quota of " + text(*quota) + " CPUs (" + machine.cgroup.cpu_quota_source +
                       ") is less than the " + text(cores) + " cores this process may run on");
  }
  if (machine.hypervisor && machine.topology.threads_per_core() == 1 && machine.topology.cpu_count() > 1) {
    warnings.push_back("a virtual machine that shows no SMT: two of its cores may be one physical core");
  }
  const std::uint64_t memory = machine.usable_memory_bytes();
  if (memory != 0 && memory < kMemoryPerInstanceBytes) {
    warnings.push_back("memory of " + format_bytes(memory) + " is little: large models will not fit");
  }
  if (machine.open_files_hard != 0 && machine.open_files_hard < kFewOpenFiles) {
    warnings.push_back("only " + std::to_string(machine.open_files_hard) +
                       " files may be open (RLIMIT_NOFILE), and every connection is one: raise the hard limit");
  }
  if (!machine.features.empty() && !machine.features.has(cpu::Feature::kAvx2) &&
      !machine.features.has(cpu::Feature::kNeon)) {
    warnings.push_back("this CPU has no AVX2: inference will be several times slower than on one that has");
  }
  return warnings;
}

}  // namespace weir
