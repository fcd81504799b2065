#include "base/cgroup.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>

#include "base/file.h"

namespace weir {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;
/// Version 1 says "no limit" by the largest multiple of a page; anything near it is no limit either.
constexpr std::uint64_t kUnlimitedBytes = std::uint64_t{1} << 60;
constexpr std::string_view kUnified = "";  ///< The name of the version 2 hierarchy among the controllers.

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view first_line(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t end = line.find_last_not_of(" \t\r");
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Where a hierarchy is mounted, and which of its groups is to be seen there.
struct Mount {
  std::string root;
  std::string point;
};

/// Each controller's (or kUnified's) mount and group of this process.
struct Hierarchies {
  std::map<std::string, Mount, std::less<>> mounts;
  std::map<std::string, std::string, std::less<>> groups;
};

/// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string unescape_mount(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&text, i](std::size_t k) { return text[i + k] >= '0' && text[i + k] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && octal(1) && octal(2) && octal(3)) {
      out += static_cast<char>(((text[i + 1] - '0') * 8 + (text[i + 2] - '0')) * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// A line of mountinfo: id parent device root point options [tags] - type source options. See proc(5).
void add_mount(std::string_view line, Hierarchies& out) {
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 5 || std::distance(dash, fields.end()) < 4) return;
  const Mount mount{unescape_mount(fields[3]), unescape_mount(fields[4])};
  const std::string_view type = dash[1];
  // The first mount wins: later ones are those of other file system trees inside this one.
  if (type == "cgroup2") out.mounts.emplace(kUnified, mount);
  if (type != "cgroup") return;
  for (const std::string_view option : split(dash[3], ',')) out.mounts.emplace(option, mount);
}

/// A line of /proc/self/cgroup: id:controllers:path, where version 2 has no controllers.
void add_group(std::string_view line, Hierarchies& out) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return;
  const std::string path(line.substr(second + 1));
  for (const std::string_view name : split(line.substr(first + 1, second - first - 1), ',')) {
    out.groups.emplace(name, path);
  }
}

/// The folder of the process's group below the mount point, with a leading '/' unless it is the mount point itself.
std::string group_below(const Mount& mount, const std::string& group) {
  std::string_view path = group;
  if (mount.root != "/" && path.starts_with(mount.root)) path.remove_prefix(mount.root.size());
  // A group outside the part that is mounted here (a container without a namespace of its own) cannot be seen: what can
  // is the mount point.
  const bool outside = path.find("/..") != std::string_view::npos || (!path.empty() && path[0] != '/');
  return outside || path == "/" ? std::string() : std::string(path);
}

class Reader {
 public:
  explicit Reader(const std::string& root) : root_(root) {
    each_line("/proc/self/mountinfo", add_mount);
    each_line("/proc/self/cgroup", add_group);
  }

  CgroupLimits read() {
    const bool v2 = find(kUnified) != nullptr;
    const bool v1 = find("cpu") != nullptr || find("cpuset") != nullptr || find("memory") != nullptr;
    using enum CgroupLimits::Version;
    limits_.version = v1 ? (v2 ? kHybrid : kV1) : (v2 ? kV2 : kNone);
    each_folder("cpu", [this](const std::string& f, bool is_v1) { is_v1 ? cpu_v1(f) : cpu_v2(f); });
    each_folder("cpuset", [this](const std::string& f, bool is_v1) { is_v1 ? cpuset_v1(f) : cpuset_v2(f); });
    each_folder("memory", [this](const std::string& f, bool is_v1) {
      memory(f + (is_v1 ? "/memory.limit_in_bytes" : "/memory.max"));
    });
    return std::move(limits_);
  }

 private:
  const Mount* find(std::string_view controller) const {
    const auto mount = hierarchies_.mounts.find(controller);
    return mount != hierarchies_.mounts.end() && hierarchies_.groups.contains(controller) ? &mount->second : nullptr;
  }

  void each_line(const std::string& file, void (*take)(std::string_view, Hierarchies&)) {
    const Result<std::string> content = read_file(root_ + file, kMaxFileBytes);
    if (!content.ok()) return;
    for (const std::string_view line : split(*content, '\n')) take(line, hierarchies_);
  }

  /// The group's folder first, then its ancestors up to the mount point.
  void each_folder(std::string_view controller, const std::function<void(const std::string&, bool)>& visit) {
    const Mount* mount = find(controller);
    const bool is_v1 = mount != nullptr;
    if (!is_v1) mount = find(kUnified);
    if (mount == nullptr) return;
    std::string below = group_below(*mount, hierarchies_.groups.find(is_v1 ? controller : kUnified)->second);
    for (;;) {
      visit(mount->point + below, is_v1);
      if (below.empty()) return;
      below.resize(std::min(below.rfind('/'), below.size()));
    }
  }

  std::optional<std::string> first_line_of(const std::string& file) {
    const Result<std::string> content = read_file(root_ + file, kMaxFileBytes);
    if (!content.ok()) return std::nullopt;
    return std::string(first_line(*content));
  }

  void not_understood(const std::string& file, std::string_view content) {
    limits_.warnings.push_back(file + ": '" + std::string(content.substr(0, 40)) + "' is not understood, ignored");
  }

  void limit_cpu(double cpus, const std::string& file) {
    if (limits_.cpu_quota && *limits_.cpu_quota <= cpus) return;
    limits_.cpu_quota = cpus;
    limits_.cpu_quota_source = file;
  }

  void cpu_v1(const std::string& folder) {
    const std::string file = folder + "/cpu.cfs_quota_us";
    const std::optional<std::string> quota_text = first_line_of(file);
    const std::optional<std::string> period_text = first_line_of(folder + "/cpu.cfs_period_us");
    if (!quota_text || *quota_text == "-1") return;
    const auto quota = parse_number<std::int64_t>(*quota_text);
    const auto period = parse_number<std::int64_t>(period_text.value_or(""));
    if (!quota || !period || *quota <= 0 || *period <= 0) return not_understood(file, *quota_text);
    limit_cpu(static_cast<double>(*quota) / static_cast<double>(*period), file);
  }

  void cpu_v2(const std::string& folder) {
    const std::string file = folder + "/cpu.max";
    const std::optional<std::string> text = first_line_of(file);
    if (!text) return;
    const std::vector<std::string_view> fields = split(*text, ' ');
    if (fields[0] == "max") return;
    const auto quota = parse_number<std::int64_t>(fields[0]);
    const auto period = parse_number<std::int64_t>(fields.size() > 1 ? fields[1] : "");
    if (!quota || !period || *quota <= 0 || *period <= 0) return not_understood(file, *text);
    limit_cpu(static_cast<double>(*quota) / static_cast<double>(*period), file);
  }

  void cpuset_v1(const std::string& folder) {
    // The effective list leaves out CPUs that are offline; old kernels have only the other file.
    if (!cpuset(folder + "/cpuset.effective_cpus")) cpuset(folder + "/cpuset.cpus");
  }

  void cpuset_v2(const std::string& folder) { cpuset(folder + "/cpuset.cpus.effective"); }

  /// True when the file is there. An empty list is one that was never set.
  bool cpuset(const std::string& file) {
    const std::optional<std::string> text = first_line_of(file);
    if (!text) return false;
    const std::optional<std::vector<int>> cpus = parse_cpu_list(*text);
    if (!cpus) not_understood(file, *text);
    if (!cpus || cpus->empty()) return true;
    std::vector<int> both;
    if (limits_.cpuset) {
      std::set_intersection(cpus->begin(), cpus->end(), limits_.cpuset->begin(), limits_.cpuset->end(),
                            std::back_inserter(both));
    }
    // An ancestor that shares no CPU with the group contradicts it: the group's own list is what the kernel uses.
    if (limits_.cpuset && (both.empty() || both == *limits_.cpuset)) return true;
    limits_.cpuset = limits_.cpuset ? both : *cpus;
    limits_.cpuset_source = file;
    return true;
  }

  void memory(const std::string& file) {
    const std::optional<std::string> text = first_line_of(file);
    if (!text || *text == "max") return;
    const auto bytes = parse_number<std::uint64_t>(*text);
    if (!bytes || *bytes == 0) return not_understood(file, *text);
    if (*bytes >= kUnlimitedBytes || (limits_.memory_bytes && *limits_.memory_bytes <= *bytes)) return;
    limits_.memory_bytes = bytes;
    limits_.memory_source = file;
  }

  std::string root_;
  Hierarchies hierarchies_;
  CgroupLimits limits_;
};

}  // namespace

std::string_view cgroup_version_name(CgroupLimits::Version version) {
  switch (version) {
    case CgroupLimits::Version::kNone:
      return "none";
    case CgroupLimits::Version::kV1:
      return "v1";
    case CgroupLimits::Version::kV2:
      return "v2";
    case CgroupLimits::Version::kHybrid:
      return "v1 and v2";
  }
  return "";
}

CgroupLimits read_cgroup_limits(const std::string& root) { return Reader(root).read(); }

}  // namespace weir
