// How much memory the machine and this process have. Reads /proc and /sys below a root folder that tests replace; any
// thread. A figure that cannot be read is 0.
#pragma once

#include <cstdint>
#include <string>

namespace weir {

struct Memory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;   ///< Without swapping, the page cache given back.
  std::uint64_t resident_bytes = 0;    ///< This process.
  std::string transparent_huge_pages;  ///< "always", "madvise", "never"; empty when the kernel has none.
  std::uint64_t huge_pages_reserved = 0;
  std::uint64_t huge_page_bytes = 0;
};

/// `root` is put before every path; "" is this machine.
Memory read_memory(const std::string& root = "");

/// "3.0 GiB", "512 KiB", "17 B": for people.
std::string format_bytes(std::uint64_t bytes);

}  // namespace weir
