#include "serve/admission/completion_rate.h"

#include <gtest/gtest.h>

namespace weir::serve::admission {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Clock::time_point kStart{seconds(1000)};

TEST(CompletionRate, NothingAheadMeansSoon) {
  EXPECT_EQ(CompletionRate(kStart).retry_after_s(0, kStart + seconds(30)), 1);
}

TEST(CompletionRate, DividesWhatIsAheadByTheRate) {
  CompletionRate rate(kStart);
  for (int i = 0; i < 100; ++i) rate.completed(kStart + milliseconds(i * 100));  // ten a second for ten seconds
  EXPECT_EQ(rate.retry_after_s(300, kStart + milliseconds(9999)), 30);
  EXPECT_EQ(rate.retry_after_s(5, kStart + milliseconds(9999)), 1);
  EXPECT_EQ(rate.retry_after_s(1'000'000, kStart + milliseconds(9999)), 60);
}

TEST(CompletionRate, ForgetsWhatIsOlderThanTheWindow) {
  CompletionRate rate(kStart);
  for (int i = 0; i < 1000; ++i) rate.completed(kStart);
  for (int i = 0; i < 10; ++i) rate.completed(kStart + seconds(15));
  EXPECT_EQ(rate.retry_after_s(10, kStart + seconds(15)), 10) << "ten in ten seconds";
}

TEST(CompletionRate, AYoungProcessCountsOnlyTheTimeItHasRun) {
  CompletionRate rate(kStart);
  for (int i = 0; i < 40; ++i) rate.completed(kStart + milliseconds(i * 50));
  EXPECT_EQ(rate.retry_after_s(200, kStart + seconds(2)), 10) << "forty in two seconds";
}

TEST(CompletionRate, WithoutDeparturesAsLongAgainAsThereWasNone) {
  CompletionRate rate(kStart);
  EXPECT_EQ(rate.retry_after_s(300, kStart + milliseconds(100)), 1);
  EXPECT_EQ(rate.retry_after_s(300, kStart + seconds(7)), 7);
  EXPECT_EQ(rate.retry_after_s(300, kStart + seconds(500)), 60);
  rate.completed(kStart + seconds(500));
  EXPECT_EQ(rate.retry_after_s(300, kStart + seconds(520)), 20);
}

}  // namespace
}  // namespace weir::serve::admission
