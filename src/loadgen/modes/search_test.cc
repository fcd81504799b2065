// The searches against servers that are formulas.
#include "loadgen/modes/search.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

/// A server that answers `capacity` requests a second, each in 10 ms when it is calm; P99 grows as waiting does when
/// the load nears the capacity (M/M/1).
class FormulaServer {
 public:
  explicit FormulaServer(double capacity) : capacity_(capacity) {}

  ClientsProbe clients_probe() {
    return [this](std::uint32_t clients) -> Result<Figures> {
      ++probes;
      Figures run;
      run.requests_per_second = capacity_ * (1 - std::exp(-static_cast<double>(clients) / 8));
      return run;
    };
  }
  RateProbe rate_probe() {
    return [this](double rate) -> Result<Figures> {
      ++probes;
      Figures run;
      run.level = run.offered_rate = rate;
      run.requests_per_second = std::min(rate, capacity_);
      run.answered = 100;
      const double load = rate / capacity_;
      run.p99_ms = load < 1 ? 10 + 5 * std::max(0.0, load - 0.5) / (1 - load) : 5000;
      return run;
    };
  }

  int probes = 0;

 private:
  double capacity_;
};

TEST(FindCapacity, StopsWhenDoublingGainsNothing) {
  FormulaServer server(1000);
  const auto capacity = find_capacity(server.clients_probe());
  ASSERT_TRUE(capacity.ok());
  EXPECT_NEAR(*capacity, 1000, 30);
  EXPECT_LE(server.probes, 5);
}

TEST(FindCapacity, NothingAnsweredIsAnError) {
  const auto capacity = find_capacity([](std::uint32_t) -> Result<Figures> { return Figures(); });
  ASSERT_FALSE(capacity.ok());
  EXPECT_EQ(capacity.error().kind, ErrorKind::kUnavailable);
}

TEST(FindKnee, IsWhereP99IsTwiceTheCalmOne) {
  FormulaServer server(200);
  const auto knee = find_knee(server.rate_probe(), 200, 2);
  ASSERT_TRUE(knee.ok());
  // 10 + 5 (x - 0.5) / (1 - x) = 20 at x = 0.833.
  EXPECT_LE(knee->rate, 200 * 0.8334);
  EXPECT_GE(knee->rate, 200 * 0.82);
  EXPECT_NEAR(knee->base_p99_ms, 10, 0.5);
  EXPECT_FALSE(knee->beyond);
  EXPECT_FALSE(knee->below);
}

TEST(FindKnee, IsBeyondWhenNothingClimbs) {
  const auto knee = find_knee(
      [](double rate) -> Result<Figures> {
        Figures run;
        run.level = run.offered_rate = run.requests_per_second = rate;
        run.p99_ms = 7;
        return run;
      },
      100, 2);
  ASSERT_TRUE(knee.ok());
  EXPECT_TRUE(knee->beyond);
  EXPECT_NEAR(knee->rate, 110, 1e-9);
}

TEST(FindKnee, IsBelowWhenTheServerNeverKeepsUp) {
  const auto knee = find_knee(
      [](double rate) -> Result<Figures> {
        Figures run;
        run.level = run.offered_rate = rate;
        run.requests_per_second = rate / 2;
        run.p99_ms = 7;
        return run;
      },
      100, 2);
  ASSERT_TRUE(knee.ok());
  EXPECT_TRUE(knee->below);
  EXPECT_EQ(knee->rate, 0);
}

TEST(FindKnee, AFailedProbeEndsTheSearch) {
  const auto knee = find_knee([](double) -> Result<Figures> { return Error(ErrorKind::kCancelled, "stop"); }, 100, 2);
  ASSERT_FALSE(knee.ok());
  EXPECT_EQ(knee.error().kind, ErrorKind::kCancelled);
}

TEST(FindSloRate, IsTheHighestThatMeetsTheLimit) {
  FormulaServer server(200);
  const auto found = find_slo_rate(server.rate_probe(), 200, {15, 0.001});
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->reached);
  // 10 + 5 (x - 0.5) / (1 - x) = 15 at x = 0.75.
  EXPECT_LE(found->best.level, 150);
  EXPECT_GE(found->best.level, 150 * 0.96);
  EXPECT_LE(server.probes, 9);
}

TEST(FindSloRate, SaysWhenNothingMeetsIt) {
  FormulaServer server(200);
  const auto found = find_slo_rate(server.rate_probe(), 200, {5, 0.001});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->reached);
}

TEST(FindSloRate, FailuresCountAgainstTheLimit) {
  const auto found = find_slo_rate(
      [](double rate) -> Result<Figures> {
        Figures run;
        run.level = run.offered_rate = run.requests_per_second = rate;
        run.p99_ms = 1;
        run.answered = 1000;
        run.failed_share = rate > 40 ? 0.01 : 0;
        return run;
      },
      100, {5, 0.001});
  ASSERT_TRUE(found.ok());
  EXPECT_LE(found->best.level, 40);
  EXPECT_GE(found->best.level, 38);
}

}  // namespace
}  // namespace weir::loadgen
