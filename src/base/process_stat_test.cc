#include "base/process_stat.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace weir {
namespace {

TEST(ProcessStat, FieldsAreCountedBehindTheName) {
  const std::string path = ::testing::TempDir() + "/weir_stat_" + std::to_string(getpid());
  ASSERT_TRUE(write_file(path, "12 (a ) b (c)) S 1 12 12 0\n").ok());
  const auto fields = process_stat_fields(path);
  ASSERT_EQ(fields.size(), 5U);
  EXPECT_EQ(fields[0], "S");
  EXPECT_EQ(process_stat_number(fields, 5), 12);
  EXPECT_TRUE(std::isnan(process_stat_number(fields, 8)));
  EXPECT_TRUE(std::isnan(process_stat_number(fields, 2)));
  unlink(path.c_str());
  EXPECT_TRUE(process_stat_fields(path).empty());
}

TEST(ProcessStat, OfThisProcess) {
  const auto fields = process_stat_fields("/proc/self/stat");
  EXPECT_EQ(process_stat_number(fields, 4), getppid());
  EXPECT_GT(process_stat_number(fields, 22), 0);
}

}  // namespace
}  // namespace weir
