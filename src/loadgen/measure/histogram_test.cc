#include "loadgen/measure/histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min().count(), 0);
  EXPECT_EQ(histogram.max().count(), 0);
  EXPECT_EQ(histogram.mean().count(), 0);
  EXPECT_EQ(histogram.percentile(99).count(), 0);
}

TEST(Histogram, OneValueIsEveryPercentile) {
  Histogram histogram;
  histogram.record(Nanoseconds(123'456'789));
  for (const double percent : {0.0, 50.0, 99.9, 100.0}) EXPECT_EQ(histogram.percentile(percent).count(), 123'456'789);
}

TEST(Histogram, EveryPowerOfTwoAndItsNeighboursStayWithinTheError) {
  for (const int bits : {Histogram::kCoarse, Histogram::kFine}) {
    const double allowed = std::ldexp(1.0, -(bits + 1));
    for (int power = 0; power < 42; ++power) {
      for (const std::int64_t offset : {-1, 0, 1}) {
        const std::int64_t value = (std::int64_t{1} << power) + offset;
        Histogram histogram(bits);
        histogram.record(Nanoseconds(value));
        histogram.record(Histogram::kLongest);  // else the exact extremes would stand in for the bucket
        histogram.record(Nanoseconds(0));
        const auto read = static_cast<double>(histogram.percentile(50).count());
        EXPECT_LE(std::abs(read - static_cast<double>(value)), allowed * static_cast<double>(value)) << value;
      }
    }
  }
}

TEST(Histogram, PercentilesAgreeWithSortedValues) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> spread(15, 2);
  std::vector<std::int64_t> values;
  Histogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::int64_t>(spread(random)));
    histogram.record(Nanoseconds(values.back()));
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {1.0, 50.0, 90.0, 95.0, 99.0, 99.9}) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * 20'000 - 1e-6));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.percentile(percent).count()), exact, 0.001 * exact + 1) << percent;
  }
  EXPECT_EQ(histogram.max().count(), values.back());
  EXPECT_EQ(histogram.min().count(), values.front());
}

TEST(Histogram, MergingEqualsRecordingInOne) {
  Histogram whole;
  Histogram parts[3];
  for (int i = 0; i < 3000; ++i) {
    const Nanoseconds value(std::int64_t{i} * i * 1000);
    whole.record(value);
    parts[i % 3].record(value);
  }
  Histogram merged;
  for (const Histogram& part : parts) merged.merge(part);
  EXPECT_EQ(merged.count(), whole.count());
  EXPECT_EQ(merged.mean(), whole.mean());
  for (double percent = 0; percent <= 100; percent += 0.5) {
    EXPECT_EQ(merged.percentile(percent), whole.percentile(percent)) << percent;
  }
}

TEST(Histogram, RanksAreNotShiftedByRounding) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.record(Nanoseconds(i));
  EXPECT_EQ(histogram.percentile(99.9).count(), 999);
  EXPECT_EQ(histogram.percentile(50).count(), 500);
  EXPECT_EQ(histogram.percentile(0).count(), 1);
}

TEST(Histogram, WhatIsOutOfRangeIsHeldAtItsEnds) {
  Histogram histogram;
  histogram.record(Nanoseconds(-5));
  histogram.record(std::chrono::hours(100));
  EXPECT_EQ(histogram.min().count(), 0);
  EXPECT_EQ(histogram.max(), Histogram::kLongest);
}

}  // namespace
}  // namespace weir::loadgen
