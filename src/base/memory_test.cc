#include "base/memory.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace weir {
namespace {

TEST(Memory, ReadsWhatTheKernelWrites) {
  namespace fs = std::filesystem;
  const std::string root = ::testing::TempDir() + "weir_memory_" + std::to_string(getpid());
  fs::create_directories(root + "/proc/self");
  fs::create_directories(root + "/sys/kernel/mm/transparent_hugepage");
  std::ofstream(root + "/proc/meminfo") << "MemTotal:        4039440 kB\nMemFree:  9 kB\nMemAvailable:    2000000 kB\n"
                                           "HugePages_Total:       8\nHugePages_Free: 8\nHugepagesize:       2048 kB\n";
  std::ofstream(root + "/proc/self/statm") << "100 50 20 1 0 30 0\n";
  std::ofstream(root + "/sys/kernel/mm/transparent_hugepage/enabled") << "always [madvise] never\n";
  const Memory memory = read_memory(root);
  fs::remove_all(root);
  EXPECT_EQ(memory.total_bytes, 4039440ull * 1024);
  EXPECT_EQ(memory.available_bytes, 2000000ull * 1024);
  EXPECT_EQ(memory.huge_pages_reserved, 8u);
  EXPECT_EQ(memory.huge_page_bytes, 2048u * 1024);
  EXPECT_EQ(memory.transparent_huge_pages, "madvise");
  EXPECT_EQ(memory.resident_bytes, 50u * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST(Memory, WhatIsMissingIsZero) {
  const Memory memory = read_memory("/nowhere");
  EXPECT_EQ(memory.total_bytes, 0u);
  EXPECT_EQ(memory.transparent_huge_pages, "");
}

TEST(Memory, ThisMachine) {
  const Memory memory = read_memory();
  EXPECT_GT(memory.total_bytes, memory.available_bytes);
  EXPECT_GT(memory.resident_bytes, 1u << 20);
}

TEST(Memory, FormatsForPeople) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(3ull << 30), "3.0 GiB");
  EXPECT_EQ(format_bytes(500ull << 20), "500 MiB");
  EXPECT_EQ(format_bytes(~0ull), "16777216 TiB");
}

}  // namespace
}  // namespace weir
