#include "serve/front/http/refusal_pace.h"

#include <vector>

#include <gtest/gtest.h>

namespace weir::serve::front::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Clock::time_point kStart{seconds(1000)};

TEST(RefusalPaceTest, ABurstIsNotHeldBack) {
  RefusalPace pace;
  for (int i = 0; i < RefusalPace::kBurst; ++i) EXPECT_EQ(pace.refused(kStart), Clock::duration::zero()) << i;
  EXPECT_EQ(pace.refused(kStart), RefusalPace::kInterval);
  EXPECT_EQ(pace.refused(kStart), 2 * RefusalPace::kInterval);
}

TEST(RefusalPaceTest, AnEvenPaceIsNeverHeldBack) {
  RefusalPace pace;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(pace.refused(kStart + i * RefusalPace::kInterval), Clock::duration::zero()) << i;
  }
}

TEST(RefusalPaceTest, AFloodIsSpreadToThePace) {
  RefusalPace pace;
  int refused = 0;
  // A hundred clients that ask again as soon as they are listened to, for ten seconds.
  std::vector<Clock::time_point> clients(100, kStart);
  for (Clock::time_point now = kStart; now < kStart + seconds(10); now += milliseconds(1)) {
    for (Clock::time_point& next : clients) {
      if (next > now) continue;
      next = now + pace.refused(now);
      ++refused;
    }
  }
  EXPECT_LE(refused, RefusalPace::kBurst + 100 + seconds(10) / RefusalPace::kInterval);
}

TEST(RefusalPaceTest, NobodyRestsLongerThanRetryAfterSays) {
  RefusalPace pace;
  for (int i = 0; i < 100'000; ++i) EXPECT_LE(pace.refused(kStart), RefusalPace::kLongestRest);
  EXPECT_EQ(pace.refused(kStart + seconds(2)), Clock::duration::zero()) << "forgotten once the flood is over";
}

}  // namespace
}  // namespace weir::serve::front::http
