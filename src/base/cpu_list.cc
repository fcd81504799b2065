#include <algorithm>
#include <charconv>

#include "base/cgroup.h"

namespace weir {
namespace {

constexpr int kMaxCpu = 65535;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Takes a number off the front of `text`.
std::optional<int> take_cpu(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > kMaxCpu) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool append_range(std::string_view part, std::vector<int>& cpus) {
  part = trimmed(part);
  const std::optional<int> first = take_cpu(part);
  if (!first) return false;
  std::optional<int> last = first;
  if (part.starts_with('-')) {
    part.remove_prefix(1);
    last = take_cpu(part);
  }
  if (!last || *last < *first || !part.empty()) return false;
  for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  return true;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  text = trimmed(text);
  // The kernel writes each CPU once; far more parts than CPUs is not its writing.
  for (int parts = 0; !text.empty(); ++parts) {
    const std::size_t comma = text.find(',');
    if (parts > kMaxCpu || cpus.size() > 2 * std::size_t{kMaxCpu} || !append_range(text.substr(0, comma), cpus)) {
      return std::nullopt;
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::string out;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!out.empty()) out += ',';
    out += std::to_string(cpus[begin]);
    if (end - begin > 1) out += "-" + std::to_string(cpus[end - 1]);
    begin = end;
  }
  return out;
}

}  // namespace weir
