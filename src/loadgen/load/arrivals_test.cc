#include "loadgen/load/arrivals.h"

#include <cmath>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

using std::chrono::milliseconds;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

TEST(PoissonArrivals, HaveTheRateAndTheSpreadOfAPoissonProcess) {
  Arrivals arrivals(200, 11);
  constexpr int kCount = 100'000;
  double last = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double at = seconds(arrivals.next());
    ASSERT_GE(at, last);
    squares += (at - last - 0.005) * (at - last - 0.005);
    last = at;
  }
  EXPECT_NEAR(kCount / last, 200, 200 * 4 / std::sqrt(kCount));
  EXPECT_NEAR(std::sqrt(squares / kCount), 0.005, 0.0002)
      << "gaps of an exponential distribution deviate by their mean";
}

TEST(PoissonArrivals, TheSeedDecides) {
  Arrivals a(10, 1);
  Arrivals b(10, 1);
  Arrivals c(10, 2);
  const Clock::duration first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

TEST(RecordedArrivals, AreReadFromLinesAndCountFromTheFirst) {
  const auto recorded = parse_arrivals("1700000000.5\n1700000000.75\r\n\n1700000001.5\n", "a.txt");
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->offsets, (std::vector<Clock::duration>{milliseconds(0), milliseconds(250), milliseconds(1000)}));
  EXPECT_EQ(recorded->period, milliseconds(1500));
  EXPECT_NEAR(recorded->rate(), 2, 1e-9);
}

TEST(RecordedArrivals, BadLinesAreNamed) {
  const auto message = [](const char* text) { return parse_arrivals(text, "a.txt").error().message; };
  EXPECT_EQ(message("1\nx\n"), "a.txt:2: 'x' is no number of seconds");
  EXPECT_EQ(message("1\n2 \n"), "a.txt:2: '2 ' is no number of seconds");
  EXPECT_EQ(message("1\nnan\n"), "a.txt:2: 'nan' is no number of seconds");
  EXPECT_EQ(message("2\n1\n"), "a.txt:2: is earlier than the line before");
  EXPECT_NE(message("1\n1e300\n").find("30 years"), std::string::npos);
  for (const char* text : {"", "1", "1\n1\n1\n"}) EXPECT_NE(message(text).find("at least two"), std::string::npos);
}

TEST(RecordedArrivals, AreSharedByThreadsScaledAndRepeated) {
  const auto recorded = std::make_shared<const RecordedArrivals>(parse_arrivals("0\n1\n2\n3\n", "a").value());
  Arrivals as_recorded(recorded, 0, 0, 1);
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(seconds(as_recorded.next()), i, 1e-6);
  Arrivals even(recorded, 2, 0, 2);  // twice as fast
  Arrivals odd(recorded, 2, 1, 2);
  for (int i = 0; i < 9; i += 2) {
    EXPECT_NEAR(seconds(even.next()), i / 2.0, 1e-6);
    EXPECT_NEAR(seconds(odd.next()), (i + 1) / 2.0, 1e-6);
  }
}

}  // namespace
}  // namespace weir::loadgen
