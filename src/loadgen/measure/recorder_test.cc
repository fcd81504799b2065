#include "loadgen/measure/recorder.h"

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RecorderTest : public ::testing::Test {
 protected:
  /// A request that should have been sent at `intended_ms`, was sent `lag_ms` later and took `latency_ms` in all.
  void add(int intended_ms, int latency_ms, Outcome outcome = {}, int lag_ms = 0) {
    const auto intended = zero_ + milliseconds(intended_ms);
    recorder_.add({intended, intended + milliseconds(lag_ms), intended + milliseconds(latency_ms), outcome, 2, 30});
  }
  void open_window() { recorder_.set_window({zero_ + seconds(1), zero_ + seconds(2)}); }

  const Recording& seen() const { return recorder_.recording(); }

  Clock::time_point zero_ = Clock::now();
  Recorder recorder_{milliseconds(100), 10};
};

TEST_F(RecorderTest, WarmUpIsKeptApart) {
  add(0, 700);
  add(10, 20);
  open_window();
  add(1000, 30);
  EXPECT_EQ(seen().first_latency, milliseconds(700));
  EXPECT_EQ(seen().warm_up_outcomes.answered(), 2u);
  EXPECT_EQ(seen().latency.count(), 1u);
  EXPECT_EQ(seen().requests, 1u);
  EXPECT_EQ(seen().texts, 2u);
  EXPECT_EQ(seen().tokens, 30u);
}

TEST_F(RecorderTest, LatencyGoesByTheIntendedTimeAndThroughputByTheAnswer) {
  open_window();
  add(990, 20);    // began before, answered within
  add(1990, 500);  // should have been sent within, answered after
  add(2000, 1);    // after
  EXPECT_EQ(seen().requests, 1u);
  EXPECT_EQ(seen().latency.count(), 1u);
  EXPECT_EQ(seen().latency.max(), milliseconds(500));
}

TEST_F(RecorderTest, TimeoutsHaveALatencyAndOtherFailuresHaveNone) {
  open_window();
  add(1100, 800, {Ending::kTimeout, 0});
  add(1200, 1, {Ending::kStatus, 429});
  add(1300, 1, {Ending::kStatus, 429});
  add(1300, 1, {Ending::kConnectRefused, 0});
  EXPECT_EQ(seen().latency.count(), 1u);
  EXPECT_EQ(seen().latency.max(), milliseconds(800));
  EXPECT_EQ(seen().requests, 0u);
  const auto failures = seen().outcomes.failures();
  EXPECT_EQ(failures.size(), 3u);
  EXPECT_EQ(failures.at("status_429"), 2u);
  EXPECT_EQ(failures.at("timeout"), 1u);
  EXPECT_EQ(failures.at("connect_refused"), 1u);
  EXPECT_EQ(seen().outcomes.failed_share(), 1);
}

TEST_F(RecorderTest, TheLoadsOwnLatenessIsPartOfTheLatencyAndKnown) {
  open_window();
  add(1100, 50, {}, 40);
  EXPECT_EQ(seen().latency.max(), milliseconds(50));
  EXPECT_EQ(seen().send_lag.max(), milliseconds(40));
}

TEST_F(RecorderTest, IntervalsGoByTheEndAndMerge) {
  open_window();
  add(1000, 150);
  add(1140, 20);
  add(1500, 10, {Ending::kStatus, 503});
  Recording merged = seen();
  merged.merge(seen());
  ASSERT_EQ(merged.intervals.size(), 6u);
  EXPECT_EQ(merged.intervals[1].answered, 4u);
  EXPECT_EQ(merged.intervals[1].latency.max(), milliseconds(150));
  EXPECT_EQ(merged.intervals[5].failed, 2u);
  EXPECT_EQ(merged.outcomes.total(), 6u);
}

}  // namespace
}  // namespace weir::loadgen
