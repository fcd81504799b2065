#include "base/memory.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include <unistd.h>

#include "base/file.h"

namespace weir {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 16;

std::uint64_t number_in(std::string_view text) {
  const std::size_t digit = text.find_first_of("0123456789");
  std::uint64_t value = 0;
  if (digit != std::string_view::npos) std::from_chars(text.data() + digit, text.data() + text.size(), value);
  return value;
}

/// The number on the line of /proc/meminfo that begins with `key`; 0 when there is none.
std::uint64_t meminfo(std::string_view content, std::string_view key) {
  while (!content.empty()) {
    const std::string_view line = content.substr(0, content.find('\n'));
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':')) return number_in(line.substr(key.size()));
    content.remove_prefix(std::min(line.size() + 1, content.size()));
  }
  return 0;
}

/// The kernel marks the choice in force: "always [madvise] never".
std::string marked_choice(std::string_view text) {
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return std::string(text.substr(begin + 1, end - begin - 1));
}

std::string content_of(const std::string& path) {
  Result<std::string> content = read_file(path, kMaxFileBytes);
  return content.ok() ? std::move(*content) : std::string();
}

}  // namespace

Memory read_memory(const std::string& root) {
  constexpr std::uint64_t kKib = 1024;
  Memory memory;
  const std::string info = content_of(root + "/proc/meminfo");
  memory.total_bytes = meminfo(info, "MemTotal") * kKib;
  memory.available_bytes = meminfo(info, "MemAvailable") * kKib;
  memory.huge_pages_reserved = meminfo(info, "HugePages_Total");
  memory.huge_page_bytes = meminfo(info, "Hugepagesize") * kKib;
  memory.transparent_huge_pages = marked_choice(content_of(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  const std::string pages = content_of(root + "/proc/self/statm");
  const std::size_t resident = pages.find(' ');
  if (resident != std::string::npos) {
    memory.resident_bytes =
        number_in(std::string_view(pages).substr(resident)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return memory;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace weir
