#include "base/huge_memory.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(HugeMemory, IsZeroAlignedAndWritable) {
  for (const std::size_t size : {std::size_t{1}, HugeMemory::kPageBytes, HugeMemory::kPageBytes + 1}) {
    const auto memory = HugeMemory::allocate(size);
    ASSERT_TRUE(memory.ok());
    const std::span<std::byte> bytes = memory->bytes();
    ASSERT_GE(bytes.size(), size);
    EXPECT_EQ(bytes.size() % HugeMemory::kPageBytes, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % HugeMemory::kPageBytes, 0u);
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
    std::fill(bytes.begin(), bytes.end(), std::byte{7});
    EXPECT_EQ(bytes.back(), std::byte{7});
  }
}

TEST(HugeMemory, NothingIsNoMemory) {
  const auto memory = HugeMemory::allocate(0);
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(memory->bytes().empty());
}

TEST(HugeMemory, TooMuchIsAnErrorThatSaysHowMuch) {
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX / 2}) {
    const auto memory = HugeMemory::allocate(size);
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(memory.error().kind, ErrorKind::kInternal);
    EXPECT_NE(memory.error().message.find(std::to_string(size)), std::string::npos);
  }
}

TEST(HugeMemory, MovesAndFreesOnce) {
  auto memory = HugeMemory::allocate(100);
  ASSERT_TRUE(memory.ok());
  std::byte* data = memory->bytes().data();
  HugeMemory moved = std::move(memory).value();
  EXPECT_EQ(moved.bytes().data(), data);
  HugeMemory assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.bytes().data(), data);
}

}  // namespace
}  // namespace weir
