#include "hub/checksum.h"

#include <fstream>

#include <gtest/gtest.h>

namespace weir::hub {
namespace {

TEST(ChecksumTest, KnowsBothKinds) {
  const std::string path = testing::TempDir() + "/checksum";
  std::ofstream(path) << "hello\n";
  // sha256sum, and `git hash-object`.
  EXPECT_TRUE(*matches_checksum(path, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"));
  EXPECT_TRUE(*matches_checksum(path, "ce013625030ba8dba906f756967f9e9ca394464a"));
  EXPECT_FALSE(*matches_checksum(path, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be04"));
  EXPECT_FALSE(*matches_checksum(path, "ce013625030ba8dba906f756967f9e9ca394464b"));
}

TEST(ChecksumTest, SaysNothingOfOtherETags) {
  EXPECT_FALSE(is_checksum("abc"));
  EXPECT_FALSE(is_checksum("CE013625030BA8DBA906F756967F9E9CA394464A"));
  EXPECT_TRUE(*matches_checksum("/nowhere", "abc-1"));
  EXPECT_FALSE(matches_checksum("/nowhere", "ce013625030ba8dba906f756967f9e9ca394464a").ok());
}

}  // namespace
}  // namespace weir::hub
