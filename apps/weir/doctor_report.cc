#include "apps/weir/doctor_report.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include <boost/json.hpp>

namespace weir::cli {
namespace {

using cpu::Feature;

/// An instruction set worth having, and what for.
struct Worthwhile {
  Feature feature;
  Feature or_this;  ///< Does the same.
  const char* use;
};

constexpr Worthwhile kX86[] = {
    {Feature::kAvx2, Feature::kAvx2, "fp32, several times faster than without"},
    {Feature::kAvx512F, Feature::kAvx512F, "fp32, up to twice as fast"},
    {Feature::kAvx512Vnni, Feature::kAvxVnni, "int8, and int8 that cannot saturate"},
    {Feature::kAvx512Bf16, Feature::kAmxBf16, "bf16"},
    {Feature::kAmxInt8, Feature::kAmxInt8, "int8, several times faster than VNNI"},
};
constexpr Worthwhile kArm64[] = {
    {Feature::kDotprod, Feature::kDotprod, "int8"},
    {Feature::kI8mm, Feature::kI8mm, "int8, twice as fast as dotprod"},
    {Feature::kBf16, Feature::kBf16, "bf16"},
};

std::vector<Worthwhile> missing(cpu::Features features) {
  const std::span<const Worthwhile> all =
      features.has(Feature::kNeon) ? std::span<const Worthwhile>(kArm64) : std::span<const Worthwhile>(kX86);
  std::vector<Worthwhile> out;
  for (const Worthwhile& row : all) {
    if (!features.has(row.feature) && !features.has(row.or_this)) out.push_back(row);
  }
  return out;
}

std::vector<std::string> all_warnings(const DoctorFacts& facts) {
  std::vector<std::string> warnings = machine_warnings(facts.machine);
  warnings.insert(warnings.end(), facts.sizing.warnings.begin(), facts.sizing.warnings.end());
  return warnings;
}

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// Lines of a name and a value under headings, the values below each other.
class TextReport {
 public:
  void heading(const std::string& text) { out_ += (out_.empty() ? "" : "\n") + text + "\n"; }
  void line(const std::string& name, const std::string& value, const std::string& note = {}) {
    constexpr std::size_t kNameWidth = 26;
    constexpr std::size_t kValueWidth = 12;
    std::string text = "  " + name;
    text.resize(std::max(text.size() + 1, kNameWidth), ' ');
    text += value;
    if (!note.empty()) {
      text.resize(std::max(text.size() + 2, kNameWidth + kValueWidth), ' ');
      text += note;
    }
    out_ += text + "\n";
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void add_cpu(TextReport& report, const DoctorFacts& facts) {
  const Machine& machine = facts.machine;
  const Topology& topology = machine.topology;
  report.heading("Machine");
  report.line("CPU", (machine.cpu_name.empty() ? "unknown" : machine.cpu_name) +
                         (machine.hypervisor ? " (virtual machine)" : ""));
  report.line("cores", std::to_string(topology.cores.size()) + " physical, " + std::to_string(topology.cpu_count()) +
                           " logical; " + count(static_cast<std::size_t>(topology.threads_per_core()), "thread") +
                           " per core; " + count(static_cast<std::size_t>(topology.packages), "package") + "; " +
                           count(std::max<std::size_t>(topology.numa_nodes.size(), 1), "NUMA node"));
  report.line("allowed CPUs",
              format_cpu_list(machine.allowed_cpus) + " (" + count(machine.allowed_cores().size(), "core") + ")");
  std::string caches;
  for (const Cache& cache : topology.caches) {
    caches += (caches.empty() ? "" : ", ") + cache.name + " " + format_bytes(cache.size_bytes) + " x " +
              std::to_string(cache.count);
  }
  report.line("caches", caches.empty() ? "unknown" : caches);
  report.line("instruction sets", format_features(machine.features));
  if (facts.enabled != machine.features) report.line("  left by WEIR_ISA", format_features(facts.enabled));
  for (const Worthwhile& row : missing(machine.features)) {
    report.line("  missing", std::string(feature_name(row.feature)), row.use);
  }
}

void add_memory(TextReport& report, const Machine& machine) {
  const Memory& memory = machine.memory;
  report.line("memory", format_bytes(memory.total_bytes) + ", " + format_bytes(memory.available_bytes) + " available");
  report.line("huge pages",
              "transparent: " + (memory.transparent_huge_pages.empty() ? "none" : memory.transparent_huge_pages) +
                  "; reserved: " + std::to_string(memory.huge_pages_reserved) + " of " +
                  format_bytes(memory.huge_page_bytes));
  const auto files = [](std::uint64_t n) { return n == ~std::uint64_t{0} ? "unlimited" : std::to_string(n); };
  report.line("open files", files(machine.open_files_soft) + ", may be raised to " + files(machine.open_files_hard));
}

void add_limits(TextReport& report, const CgroupLimits& limits) {
  report.heading("Limits of control groups (" + std::string(cgroup_version_name(limits.version)) + ")");
  report.line("CPU quota", limits.cpu_quota ? number(*limits.cpu_quota) + " CPUs" : "none", limits.cpu_quota_source);
  report.line("cpuset", limits.cpuset ? format_cpu_list(*limits.cpuset) : "none", limits.cpuset_source);
  report.line("memory", limits.memory_bytes ? format_bytes(*limits.memory_bytes) : "none", limits.memory_source);
}

boost::json::array strings(const std::vector<std::string>& texts) {
  boost::json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

boost::json::array integers(const std::vector<int>& values) {
  boost::json::array out;
  for (const int value : values) out.emplace_back(value);
  return out;
}

boost::json::array names(cpu::Features features) {
  boost::json::array out;
  for (const Feature feature : features.list()) out.emplace_back(feature_name(feature));
  return out;
}

boost::json::object machine_json(const DoctorFacts& facts) {
  const Machine& machine = facts.machine;
  boost::json::array caches;
  for (const Cache& cache : machine.topology.caches) {
    caches.push_back({{"name", cache.name}, {"size_bytes", cache.size_bytes}, {"count", cache.count}});
  }
  boost::json::array lacks;
  for (const Worthwhile& row : missing(machine.features)) lacks.emplace_back(feature_name(row.feature));
  return {{"cpu", machine.cpu_name},
          {"hypervisor", machine.hypervisor},
          {"packages", machine.topology.packages},
          {"physical_cores", machine.topology.cores.size()},
          {"logical_cpus", machine.topology.cpu_count()},
          {"threads_per_core", machine.topology.threads_per_core()},
          {"numa_nodes", machine.topology.numa_nodes.size()},
          {"caches", std::move(caches)},
          {"allowed_cpus", integers(machine.allowed_cpus)},
          {"allowed_cores", machine.allowed_cores().size()},
          {"instruction_sets", names(machine.features)},
          {"instruction_sets_enabled", names(facts.enabled)},
          {"instruction_sets_missing", std::move(lacks)},
          {"memory_total_bytes", machine.memory.total_bytes},
          {"memory_available_bytes", machine.memory.available_bytes},
          {"memory_usable_bytes", machine.usable_memory_bytes()},
          {"transparent_huge_pages", machine.memory.transparent_huge_pages},
          {"huge_pages_reserved", machine.memory.huge_pages_reserved},
          {"huge_page_bytes", machine.memory.huge_page_bytes},
          {"open_files_soft", machine.open_files_soft},
          {"open_files_hard", machine.open_files_hard}};
}

boost::json::object cgroup_json(const CgroupLimits& limits) {
  boost::json::object out = {{"version", cgroup_version_name(limits.version)},
                             {"cpu_quota", nullptr},
                             {"cpuset", nullptr},
                             {"memory_bytes", nullptr}};
  if (limits.cpu_quota) out["cpu_quota"] = *limits.cpu_quota;
  if (limits.cpuset) out["cpuset"] = integers(*limits.cpuset);
  if (limits.memory_bytes) out["memory_bytes"] = *limits.memory_bytes;
  return out;
}

boost::json::object choice_json(const Sizing& sizing) {
  boost::json::array cpus;
  for (const std::vector<int>& instance : sizing.instance_cpus) cpus.push_back(integers(instance));
  boost::json::array decisions;
  for (const Decision& decision : sizing.decisions) {
    decisions.push_back({{"name", decision.name}, {"value", decision.value}, {"rule", decision.rule}});
  }
  return {{"cores", sizing.cores},
          {"instances", sizing.instances},
          {"threads_per_instance", sizing.threads_per_instance},
          {"network_threads", sizing.network_threads},
          {"tokenize_threads", sizing.tokenize_threads},
          {"packed_callers", sizing.packed_callers},
          {"arena_limit_bytes", sizing.arena_limit_bytes},
          {"pinned", sizing.pinned()},
          {"instance_cpus", std::move(cpus)},
          {"other_cpus", integers(sizing.other_cpus)},
          {"decisions", std::move(decisions)}};
}

}  // namespace

std::string doctor_text(const DoctorFacts& facts) {
  TextReport report;
  add_cpu(report, facts);
  add_memory(report, facts.machine);
  add_limits(report, facts.machine.cgroup);
  report.heading("Software");
  report.line("weir", facts.weir_version);
  report.line("ONNX Runtime", facts.runtime_version);
  report.line("allocator", facts.allocator);
  report.heading("What `weir serve` chooses here, and why (flags override it)");
  for (const Decision& decision : facts.sizing.decisions) report.line(decision.name, decision.value, decision.rule);
  for (std::size_t i = 0; i < facts.sizing.instance_cpus.size(); ++i) {
    report.line("  instance " + std::to_string(i), "CPUs " + format_cpu_list(facts.sizing.instance_cpus[i]));
  }
  const std::vector<std::string> warnings = all_warnings(facts);
  if (!warnings.empty()) report.heading("Warnings");
  std::string out = report.take();
  for (const std::string& warning : warnings) out += "  - " + warning + "\n";
  return out;
}

std::string doctor_json(const DoctorFacts& facts) {
  const boost::json::object out = {{"weir_version", facts.weir_version},
                                   {"onnxruntime_version", facts.runtime_version},
                                   {"allocator", facts.allocator},
                                   {"machine", machine_json(facts)},
                                   {"cgroup", cgroup_json(facts.machine.cgroup)},
                                   {"choice", choice_json(facts.sizing)},
                                   {"warnings", strings(all_warnings(facts))}};
  return boost::json::serialize(out) + "\n";
}

}  // namespace weir::cli
