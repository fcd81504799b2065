#include "families/positions.h"

#include <cmath>

#include <gtest/gtest.h>

namespace weir::families {
namespace {

TEST(Positions, RotaryFrequencies) {
  const auto plain = rotary_frequencies(4, 10000);
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_FLOAT_EQ(plain[0], 1.0f);
  EXPECT_FLOAT_EQ(plain[1], 0.01f);
  const auto stretched = rotary_frequencies(4, 10000, 4);
  EXPECT_FLOAT_EQ(stretched[0], 0.5f);
  EXPECT_FLOAT_EQ(stretched[1], 0.5f / 200.0f);
}

TEST(Positions, RotaryTables) {
  const RotaryTables tables = rotary_tables({1.0f, 0.5f}, 3);
  ASSERT_EQ(tables.cosines.size(), 6u);
  EXPECT_EQ(tables.cosines[0], 1.0f);
  EXPECT_EQ(tables.sines[1], 0.0f);
  EXPECT_FLOAT_EQ(tables.cosines[4], std::cos(2.0f));
  EXPECT_FLOAT_EQ(tables.sines[5], std::sin(1.0f));
}

TEST(Positions, AlibiSlopes) {
  EXPECT_EQ(alibi_slopes(1), std::vector<float>{0.00390625f});
  EXPECT_EQ(alibi_slopes(2), (std::vector<float>{0.0625f, 0.00390625f}));
  const auto twelve = alibi_slopes(12);
  ASSERT_EQ(twelve.size(), 12u);
  EXPECT_FLOAT_EQ(twelve[7], std::exp2(-8.0f));
  EXPECT_FLOAT_EQ(twelve[8], std::exp2(-0.5f));
  EXPECT_FLOAT_EQ(twelve[11], std::exp2(-3.5f));
}

TEST(Positions, RelativeBuckets) {
  EXPECT_EQ(relative_bucket(0, 32, 128), 0u);
  EXPECT_EQ(relative_bucket(-7, 32, 128), 7u);
  EXPECT_EQ(relative_bucket(-8, 32, 128), 8u);
  EXPECT_EQ(relative_bucket(-16, 32, 128), 10u);
  EXPECT_EQ(relative_bucket(-127, 32, 128), 15u);
  EXPECT_EQ(relative_bucket(-100000, 32, 128), 15u);
  EXPECT_EQ(relative_bucket(1, 32, 128), 17u);
  EXPECT_EQ(relative_bucket(500, 32, 128), 31u);
}

TEST(Positions, DisentangledBuckets) {
  EXPECT_EQ(disentangled_bucket(-300, 0, 512), -300);
  EXPECT_EQ(disentangled_bucket(128, 256, 512), 128);
  EXPECT_EQ(disentangled_bucket(129, 256, 512), 129);
  EXPECT_EQ(disentangled_bucket(511, 256, 512), 255);
  EXPECT_EQ(disentangled_bucket(-511, 256, 512), -255);
  for (std::int64_t distance = 1; distance < 512; ++distance) {
    EXPECT_LE(disentangled_bucket(distance - 1, 256, 512), disentangled_bucket(distance, 256, 512));
  }
}

}  // namespace
}  // namespace weir::families
