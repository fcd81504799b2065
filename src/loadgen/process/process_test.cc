#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "loadgen/process/process_usage.h"
#include "loadgen/process/server_process.h"

namespace weir::loadgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool sleep_a_moment(Clock::duration duration) {
  std::this_thread::sleep_for(duration);
  return false;
}

Status wait_ready(ServerProcess& server, const std::function<bool()>& ready) {
  return server.wait_ready(ready, Deadline::after(seconds(20)), sleep_a_moment);
}

TEST(ProcessUsage, OfThisProcessGrowsWithWhatItDoes) {
  const auto before = read_process_usage(getpid());
  ASSERT_TRUE(before);
  std::vector<char> memory(64u << 20, 'x');
  const std::clock_t begin = std::clock();
  volatile double sink = 0;
  while (std::clock() - begin < CLOCKS_PER_SEC / 5) sink = sink + 1;
  const auto after = read_process_usage(getpid());
  EXPECT_GE(after->cpu_seconds - before->cpu_seconds, 0.1);
  EXPECT_GE(after->resident_bytes, before->resident_bytes + (48u << 20)) << memory[100];
}

TEST(ProcessUsage, CountsChildrenAndKnowsWhoIsNotThere) {
  auto server = ServerProcess::start("sleep 60 & sleep 60 & wait");
  ASSERT_TRUE(server.ok());
  EXPECT_TRUE(wait_ready(*server, [&] { return read_process_usage(server->pid())->processes == 3; }).ok());
  EXPECT_FALSE(read_process_usage(2'000'000'000));
}

TEST(ServerProcess, EndsItsWholeGroup) {
  auto server = ServerProcess::start("trap '' TERM INT; (exec sleep 600) & echo started; wait");
  ASSERT_TRUE(server.ok());
  ASSERT_TRUE(wait_ready(*server, [&] { return server->output_end() == "started\n"; }).ok());
  const pid_t group = server->pid();
  EXPECT_TRUE(server->running());
  server->stop(milliseconds(100));
  EXPECT_FALSE(server->running());
  EXPECT_NE(kill(-group, 0), 0);
}

TEST(ServerProcess, ThatEndsBeforeItIsReadySaysWhatItPrinted) {
  auto server = ServerProcess::start("echo no such model; exit 3");
  ASSERT_TRUE(server.ok());
  const Status ready = wait_ready(*server, [] { return false; });
  ASSERT_FALSE(ready.ok());
  EXPECT_EQ(ready.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(ready.error().message.find("status 3"), std::string::npos);
  EXPECT_NE(ready.error().message.find("no such model"), std::string::npos);
}

TEST(ServerProcess, ThatIsNeverReadyIsGivenUp) {
  auto server = ServerProcess::start("exec sleep 600");
  ASSERT_TRUE(server.ok());
  const Status ready = server->wait_ready([] { return false; }, Deadline::after(milliseconds(100)), sleep_a_moment);
  ASSERT_FALSE(ready.ok());
  EXPECT_NE(ready.error().message.find("in time"), std::string::npos);
  const Status stopped = server->wait_ready([] { return false; }, Deadline(), [](Clock::duration) { return true; });
  EXPECT_EQ(stopped.error().kind, ErrorKind::kCancelled);
}

TEST(ServerProcess, SignalsAreAsAShellsProgramHasThem) {
  sigset_t blocked;
  sigset_t old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &old);
  auto server = ServerProcess::start("grep -E '^Sig(Blk|Ign)' /proc/self/status; exec sleep 600");
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ASSERT_TRUE(server.ok());
  ASSERT_TRUE(wait_ready(*server, [&] { return server->output_end().find("SigIgn") != std::string::npos; }).ok());
  EXPECT_NE(server->output_end().find("SigBlk:\t0000000000000000"), std::string::npos) << server->output_end();
}

TEST(Placeholders, AreReplacedWhereverTheyStand) {
  EXPECT_EQ(with_placeholder("a {port} b{port}", "port", "{port}1"), "a {port}1 b{port}1");
  EXPECT_EQ(with_placeholder("a {threads}", "port", "1"), "a {threads}");
  EXPECT_GT(*free_port(), 0);
}

}  // namespace
}  // namespace weir::loadgen
