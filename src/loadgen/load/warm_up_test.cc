#include "loadgen/load/warm_up.h"

#include <vector>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

/// The step at which the rule says steady, from 1; 0 if never.
std::size_t steady_at(const std::vector<std::uint64_t>& answered_per_step) {
  WarmUpRule rule;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < answered_per_step.size(); ++i) {
    total += answered_per_step[i];
    if (rule.step(total)) return i + 1;
  }
  return 0;
}

TEST(WarmUpRule, ASteadyServerNeedsThreeStepsAfterTheFirst) { EXPECT_EQ(steady_at({10000, 10000, 10000, 10000}), 4u); }

TEST(WarmUpRule, ARisingServerIsNotSteadyUntilItStopsRising) {
  EXPECT_EQ(steady_at({1000, 2000, 3000, 4000, 5000, 5100, 5050}), 7u);
}

TEST(WarmUpRule, FewAnswersMayVaryAsTheyDoByChance) {
  EXPECT_EQ(steady_at({0, 4, 7, 5}), 4u);
  EXPECT_EQ(steady_at({0, 4000, 7000, 5000}), 0u);
}

TEST(WarmUpRule, WithoutAnswersItIsNeverSteady) { EXPECT_EQ(steady_at(std::vector<std::uint64_t>(50, 0)), 0u); }

}  // namespace
}  // namespace weir::loadgen
