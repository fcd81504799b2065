// The limits that control groups set on this process: CPU time, CPUs and memory. Reads both versions of the interface
// and mixtures of them, as they are mounted, below a root folder that tests replace. Pure reading; any thread.
//
// A limit holds for a group and all below it, so each is the smallest over the process's group and its ancestors that
// can be seen. A file that is missing sets no limit; one that cannot be understood sets none either and is named in
// `warnings`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

struct CgroupLimits {
  enum class Version { kNone, kV1, kV2, kHybrid };

  Version version = Version::kNone;        ///< kHybrid: version 1 controllers beside a version 2 hierarchy.
  std::optional<double> cpu_quota;         ///< In CPUs: 1.5 is one and a half CPU's time.
  std::string cpu_quota_source;            ///< The file that set it, without the root.
  std::optional<std::vector<int>> cpuset;  ///< Ascending logical CPUs.
  std::string cpuset_source;
  std::optional<std::uint64_t> memory_bytes;
  std::string memory_source;
  std::vector<std::string> warnings;
};

std::string_view cgroup_version_name(CgroupLimits::Version version);

/// `root` is put before every path; "" is this machine.
CgroupLimits read_cgroup_limits(const std::string& root = "");

/// A list as the kernel writes it, such as "0-3,8": ascending, without duplicates. Empty text is an empty list; nothing
/// when it is not such a list or names a CPU above 65535.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The inverse: "0-3,8".
std::string format_cpu_list(const std::vector<int>& cpus);

}  // namespace weir
