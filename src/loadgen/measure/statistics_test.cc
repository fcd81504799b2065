#include "loadgen/measure/statistics.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

std::vector<double> steps(std::size_t count, double step = 1) {
  std::vector<double> x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(static_cast<double>(i) * step);
  return x;
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Trend, OfALineIsExact) {
  const auto x = steps(50, 0.5);
  std::vector<double> y;
  for (const double at : x) y.push_back(7 + 3 * at);
  const Trend trend = find_trend(x, y);
  EXPECT_NEAR(trend.slope, 3, 1e-9);
  EXPECT_LT(trend.p_value, 1e-9);
}

TEST(Trend, SurvivesNoiseAndOutliers) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 5);
  const auto x = steps(1000);
  std::vector<double> y;
  for (const double at : x) y.push_back(0.1 * at + noise(random) + (static_cast<int>(at) % 10 == 0 ? 1000 : 0));
  const Trend trend = find_trend(x, y);
  EXPECT_NEAR(trend.slope, 0.1, 0.01);
  EXPECT_LT(trend.low, 0.1);
  EXPECT_GT(trend.high, 0.1);
}

TEST(Trend, PureNoiseIsSeldomTakenForOne) {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(100, 10);
    std::vector<double> y;
    for (int i = 0; i < 60; ++i) y.push_back(noise(random));
    if (find_trend(steps(60), y).p_value < 0.01) ++found;
  }
  EXPECT_LE(found, 8) << "of 200, two would be expected";
}

TEST(Trend, EqualValuesAndFewPointsAreNone) {
  EXPECT_EQ(find_trend(steps(30), std::vector<double>(30, 5.0)).p_value, 1);
  EXPECT_EQ(find_trend(steps(7), steps(7)).p_value, 1);
  EXPECT_EQ(find_trend({}, {}).slope, 0);
}

TEST(PairedRatio, AgreesWithAHandComputedInterval) {
  // Logarithms of the ratios: 0.1, 0.2, 0.3; mean 0.2, deviation 0.1, t(2) = 4.303.
  const std::vector<double> a = {1, 2, 3};
  const std::vector<double> b = {std::exp(0.1), 2 * std::exp(0.2), 3 * std::exp(0.3)};
  const Ratio ratio = paired_ratio(a, b);
  EXPECT_NEAR(ratio.ratio, std::exp(0.2), 1e-12);
  EXPECT_NEAR(ratio.low, std::exp(0.2 - 4.303 * 0.1 / std::sqrt(3.0)), 1e-6);
  EXPECT_NEAR(ratio.high, std::exp(0.2 + 4.303 * 0.1 / std::sqrt(3.0)), 1e-6);
  EXPECT_FALSE(ratio.differs_from_one());
}

TEST(PairedRatio, WhatBothSharePairByPairDoesNotMatter) {
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> machine(0, 1);  // far noisier than the difference
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 10; ++i) {
    const double speed = machine(random);
    a.push_back(speed * std::exp(noise(random)));
    b.push_back(1.1 * speed * std::exp(noise(random)));
  }
  const Ratio ratio = paired_ratio(a, b);
  EXPECT_NEAR(ratio.ratio, 1.1, 0.02);
  EXPECT_TRUE(ratio.differs_from_one());
}

TEST(PairedRatio, CoversTheTruthAboutAsOftenAsItSays) {
  int covered = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> noise(0, 0.2);
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < 6; ++i) {
      a.push_back(noise(random));
      b.push_back(noise(random));
    }
    if (!paired_ratio(a, b).differs_from_one()) ++covered;
  }
  EXPECT_GE(covered, 365);  // 380 expected
  EXPECT_LE(covered, 395);
}

TEST(PairedRatio, OnePairTellsNothingAboutTheSpread) {
  const Ratio ratio = paired_ratio({2}, {3});
  EXPECT_NEAR(ratio.ratio, 1.5, 1e-12);
  EXPECT_FALSE(ratio.differs_from_one());
}

std::vector<double> noisy(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> noise(1, 0.1);
  std::vector<double> y;
  for (std::size_t i = 0; i < count; ++i) y.push_back(noise(random));
  return y;
}

TEST(PeriodicSpikes, AreFoundWithTheirPeriodAndHeight) {
  std::vector<double> y = noisy(240, 1);
  for (std::size_t at = 7; at < y.size(); at += 20) {
    y[at] = 400;
    y[at + 1] = 200;  // the same event
  }
  const auto period = find_periodic_spikes(y, 0.25);
  ASSERT_TRUE(period);
  EXPECT_NEAR(period->seconds, 5, 0.01);
  EXPECT_EQ(period->events, 12u);
  EXPECT_EQ(period->height, 400);
}

TEST(PeriodicSpikes, OneMissedAndAJitterOfAnIntervalAreAllowed) {
  std::vector<double> y = noisy(300, 2);
  std::size_t number = 0;
  for (std::size_t at = 10; at < y.size(); at += 30, ++number) {
    if (number != 4) y[at + number % 2] = 100;
  }
  const auto period = find_periodic_spikes(y, 1);
  ASSERT_TRUE(period);
  EXPECT_NEAR(period->seconds, 30, 1);
}

TEST(PeriodicSpikes, SmallOnesAtRandomTimesDoNotHideThem) {
  std::vector<double> y = noisy(120, 4);
  std::mt19937_64 random(4);
  for (int i = 0; i < 15; ++i) y[random() % y.size()] = 6;
  for (std::size_t at = 15; at < y.size(); at += 20) y[at] = 200;  // six of them
  const auto period = find_periodic_spikes(y, 0.25);
  ASSERT_TRUE(period);
  EXPECT_NEAR(period->seconds, 5, 0.01);
  EXPECT_EQ(period->events, 6u);
}

TEST(PeriodicSpikes, RandomOnesAndNoneAreNotPeriodic) {
  int found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::vector<double> y = noisy(200, seed);
    std::mt19937_64 random(seed + 1000);
    for (int i = 0; i < 8; ++i) y[random() % y.size()] = 100;
    if (find_periodic_spikes(y, 1)) ++found;
  }
  EXPECT_LE(found, 4);
  EXPECT_FALSE(find_periodic_spikes(noisy(200, 5), 1));
  EXPECT_FALSE(find_periodic_spikes({}, 1));
}

TEST(PeriodicSpikes, ThreeAreTooFew) {
  std::vector<double> y = noisy(100, 9);
  for (const std::size_t at : {20u, 50u, 80u}) y[at] = 100;
  EXPECT_FALSE(find_periodic_spikes(y, 1));
}

}  // namespace
}  // namespace weir::loadgen
