// Long runs that are made up: what is in them is known.
#include "loadgen/modes/soak_analysis.h"

#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

/// Two minutes at 100 requests/s with a median of 10 ms, in intervals of a quarter of a second; `change` alters a
/// point.
Figures run_with(const std::function<void(double at_s, SeriesPoint&, MemoryPoint&)>& change) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> noise(0, 0.05);
  Figures run;
  run.seconds = 120;
  run.interval_seconds = 0.25;
  for (int i = 0; i < 480; ++i) {
    const double at_s = i * 0.25;
    SeriesPoint point;
    point.at_s = at_s;
    point.requests_per_second = 100 * (1 + noise(random));
    point.p50_ms = 10 * (1 + noise(random));
    point.max_ms = 30 * (1 + 2 * std::abs(noise(random)));
    MemoryPoint memory{at_s, 200e6 + 4096 * std::floor(20 * noise(random))};
    change(at_s, point, memory);
    run.series.push_back(point);
    run.memory.push_back(memory);
  }
  return run;
}

Finding finding(const Figures& run, const std::string& name) {
  for (const Finding& found : analyze_soak(run)) {
    if (found.name == name) return found;
  }
  ADD_FAILURE() << "no finding " << name;
  return {};
}

TEST(AnalyzeSoak, AnEvenRunHasNothing) {
  const Figures run = run_with([](double, SeriesPoint&, MemoryPoint&) {});
  const auto findings = analyze_soak(run);
  EXPECT_EQ(findings.size(), 4u);
  for (const Finding& found : findings) EXPECT_FALSE(found.problem) << found.text;
}

TEST(AnalyzeSoak, ALeakOfOneMegabyteASecondIsNamed) {
  const Figures run =
      run_with([](double at_s, SeriesPoint&, MemoryPoint& memory) { memory.resident_bytes += 1e6 * at_s; });
  const Finding found = finding(run, "memory_growth");
  EXPECT_TRUE(found.problem);
  EXPECT_NEAR(found.value, 1, 0.01);
  EXPECT_EQ(found.unit, "MB/s");
  EXPECT_NE(found.text.find("grows by 1 MB/s"), std::string::npos) << found.text;
}

TEST(AnalyzeSoak, MemoryThatSettlesIsNoLeak) {
  const Figures run = run_with([](double at_s, SeriesPoint&, MemoryPoint& memory) {
    memory.resident_bytes += 50e6 * (1 - std::exp(-at_s / 10));
    memory.resident_bytes = std::floor(memory.resident_bytes / 1e6) * 1e6;
  });
  EXPECT_FALSE(finding(run, "memory_growth").problem);
}

TEST(AnalyzeSoak, APauseEveryFiveSecondsIsNamed) {
  const Figures run = run_with([](double at_s, SeriesPoint& point, MemoryPoint&) {
    if (std::fmod(at_s, 5) == 0.25) point.max_ms = 480;
  });
  const Finding found = finding(run, "periodic_spikes");
  EXPECT_TRUE(found.problem);
  EXPECT_NEAR(found.value, 5, 0.05);
  EXPECT_NE(found.text.find("every 5 s"), std::string::npos) << found.text;
}

TEST(AnalyzeSoak, LatencyThatCreepsUpIsDrift) {
  const Figures run = run_with([](double at_s, SeriesPoint& point, MemoryPoint&) { point.p50_ms *= 1 + at_s / 240; });
  const Finding found = finding(run, "latency_drift");
  EXPECT_TRUE(found.problem) << found.text;
  EXPECT_NEAR(found.value, 0.2, 0.03);  // half more in two minutes, over the median of the run
  EXPECT_FALSE(finding(run, "throughput_drift").problem);
}

TEST(AnalyzeSoak, ShortRunsHaveTooFewPointsForAVerdict) {
  Figures run = run_with([](double at_s, SeriesPoint&, MemoryPoint& memory) { memory.resident_bytes += 1e7 * at_s; });
  run.series.resize(5);
  run.memory.resize(5);
  run.seconds = 1.25;
  for (const Finding& found : analyze_soak(run)) EXPECT_FALSE(found.problem) << found.text;
  EXPECT_EQ(analyze_soak(Figures()).size(), 3u);
}

}  // namespace
}  // namespace weir::loadgen
