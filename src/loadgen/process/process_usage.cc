#include "loadgen/process/process_usage.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "base/process_stat.h"

namespace weir::loadgen {
namespace {

constexpr int kDeepest = 32;  // processes that each have one child

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Its own processor time and that of children that it has waited for: fields 14 to 17.
bool add_cpu(const std::string& folder, ProcessUsage& usage) {
  const auto fields = process_stat_fields(folder + "/stat");
  double ticks = 0;
  for (std::size_t field = 14; field <= 17; ++field) ticks += process_stat_number(fields, field);
  if (std::isnan(ticks)) return false;
  usage.cpu_seconds += ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  return true;
}

void add_memory(const std::string& folder, ProcessUsage& usage) {
  std::istringstream line(read_line(folder + "/statm"));
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (line >> size >> resident) usage.resident_bytes += resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void add_tree(const std::string& proc, const std::string& pid, int depth, ProcessUsage& usage) {
  const std::string folder = proc + pid;
  if (depth > kDeepest || !add_cpu(folder, usage)) return;
  ++usage.processes;
  add_memory(folder, usage);
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator(folder + "/task", error)) {
    std::istringstream children(read_line(task.path().string() + "/children"));
    for (std::string child; children >> child;) add_tree(proc, child, depth + 1, usage);
  }
}

}  // namespace

std::optional<ProcessUsage> read_process_usage(pid_t pid, const std::string& root) {
  ProcessUsage usage;
  add_tree(root + "/proc/", std::to_string(pid), 0, usage);
  if (usage.processes == 0) return std::nullopt;
  return usage;
}

}  // namespace weir::loadgen
