#include "apps/weir/stop_signals.h"

#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace weir::cli {
namespace {

constexpr Clock::duration kLong = std::chrono::seconds(60);

class StopSignalsTest : public ::testing::Test {
 protected:
  StopSignalsTest() { pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
  ~StopSignalsTest() override { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

TEST_F(StopSignalsTest, ASignalToTheProcessEndsTheWait) {
  StopSignals signals;
  ASSERT_TRUE(signals.block().ok());
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    std::thread sender([number] { kill(getpid(), number); });  // Inherits the blocking, as the server's threads do.
    EXPECT_EQ(signals.wait(kLong), number);
    sender.join();
  }
}

TEST_F(StopSignalsTest, AHangupThatIsIgnoredStaysSo) {
  signal(SIGHUP, SIG_IGN);
  StopSignals signals;
  ASSERT_TRUE(signals.block().ok());
  raise(SIGHUP);
  raise(SIGTERM);
  EXPECT_EQ(signals.wait(Clock::duration::zero()), SIGTERM);
  EXPECT_EQ(signals.wait(Clock::duration::zero()), std::nullopt);
  signal(SIGHUP, SIG_DFL);
}

TEST_F(StopSignalsTest, WakeEndsOneWait) {
  StopSignals signals;
  ASSERT_TRUE(signals.block().ok());
  signals.wake();
  EXPECT_EQ(signals.wait(kLong), std::nullopt);
  EXPECT_EQ(signals.wait(Clock::duration::zero()), std::nullopt);
  std::thread waker([&signals] { signals.wake(); });
  EXPECT_EQ(signals.wait(kLong), std::nullopt);
  waker.join();
}

TEST_F(StopSignalsTest, ASignalThatCameEarlierIsNotLost) {
  StopSignals signals;
  ASSERT_TRUE(signals.block().ok());
  raise(SIGTERM);
  EXPECT_EQ(signals.wait(Clock::duration::zero()), SIGTERM);
}

TEST_F(StopSignalsTest, WritingToAClosedPipeDoesNotEndTheProcess) {
  StopSignals signals;
  ASSERT_TRUE(signals.block().ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  close(ends[1]);
}

TEST(StopSignalsDeathTest, TheSecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        StopSignals signals;
        if (!signals.block().ok()) _exit(1);
        raise(SIGTERM);
        if (signals.wait(kLong) != SIGTERM) _exit(2);
        signals.exit_on_next();
        raise(SIGTERM);
        _exit(3);
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "");
}

}  // namespace
}  // namespace weir::cli
