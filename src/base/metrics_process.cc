// Figures of this process, read from /proc when they are asked for.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/metrics.h"
#include "base/process_stat.h"

namespace weir::metrics {
namespace {

double stat_field(std::size_t number) { return process_stat_number(process_stat_fields("/proc/self/stat"), number); }

double ticks_per_second() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

double open_fds() {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return std::nan("");
  double count = 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(folder);
  return count - 1;  // One of them is the folder itself.
}

double max_fds() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : std::nan("");
}

/// Unix time; constant, so read once.
double start_time_s() {
  std::ifstream file("/proc/stat");
  double boot_time = std::nan("");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) boot_time = std::strtod(line.c_str() + 6, nullptr);
  }
  return boot_time + stat_field(22) / ticks_per_second();
}

}  // namespace

void register_process_metrics(Registry& registry, const std::string& version) {
  const void* owner = &registry;
  const double page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  registry.gauge("weir_build_info", "Always 1; the label tells the version.", {{"version", version}}).set(1);
  registry.counter_callback(owner, "process_cpu_seconds_total", "CPU time used, user and system.", {},
                            [] { return (stat_field(14) + stat_field(15)) / ticks_per_second(); });
  registry.gauge_callback(owner, "process_resident_memory_bytes", "Resident memory.", {},
                          [page_bytes] { return stat_field(24) * page_bytes; });
  registry.gauge_callback(owner, "process_virtual_memory_bytes", "Virtual memory.", {}, [] { return stat_field(23); });
  registry.gauge_callback(owner, "process_threads", "Threads.", {}, [] { return stat_field(20); });
  registry.gauge_callback(owner, "process_open_fds", "Open file descriptors.", {}, open_fds);
  registry.gauge_callback(owner, "process_max_fds", "Most file descriptors that may be open.", {}, max_fds);
  registry.gauge_callback(owner, "process_start_time_seconds", "When the process started, in Unix time.", {},
                          [start = start_time_s()] { return start; });
}

}  // namespace weir::metrics
