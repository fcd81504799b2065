// The modes against toy servers: that they run what they should and report it. What they find in noise-free runs is in
// the tests of the searches and of the analysis.
#include "loadgen/modes/modes.h"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "loadgen/modes/calibration.h"
#include "loadgen/toy/toy_server.h"

namespace weir::loadgen {
namespace {

using std::chrono::milliseconds;

Workload workload() {
  Workload workload;
  workload.requests = {{"a text"}};
  workload.sizes = {{1, 3}};
  workload.mean_tokens = 3;
  workload.mean_square_tokens = 9;
  return workload;
}

bool sleep_a_moment(Clock::duration duration) {
  std::this_thread::sleep_for(duration);
  return false;
}

class ModesTest : public ::testing::Test {
 protected:
  ModesTest() {
    LoadSpec spec;
    spec.duration = milliseconds(250);
    spec.most_warm_up = milliseconds(50);
    spec.timeout = milliseconds(5000);
    RunHooks hooks;
    hooks.wait = sleep_a_moment;
    session_ = std::make_unique<Session>(spec, hooks, FigureBasis{3, 9, ModelShape{8, 1, 16}, Peak{1e9, "a peak"}},
                                         [this](const Figures&) { ++rows_; });
  }

  static Subject subject_at(const ToyServer& server, const std::string& name = "") {
    SubjectOptions options;
    options.url = server.url();
    Subject subject = open_subject(options, workload(), sleep_a_moment).value();
    subject.name = name;
    return subject;
  }
  const Finding& finding(const std::string& name) {
    for (const Finding& found : session_->report().findings) {
      if (found.name == name) return found;
    }
    ADD_FAILURE() << "no finding " << name;
    static const Finding none;
    return none;
  }

  std::unique_ptr<Session> session_;
  int rows_ = 0;
};

TEST_F(ModesTest, ALadderHasARunForEachRung) {
  const auto server = ToyServer::start({}).value();
  Subject subject = subject_at(*server);
  ASSERT_TRUE(run_ladder(*session_, subject, {1, 3}).ok());
  ASSERT_EQ(session_->report().runs.size(), 2u);
  EXPECT_EQ(rows_, 2);
  const Figures& run = session_->report().runs[1];
  EXPECT_EQ(run.label, "3 clients");
  EXPECT_GT(run.answered, 0u);
  EXPECT_NEAR(run.tokens_per_second, 3 * run.requests_per_second, 1e-6 * run.tokens_per_second);
  // 1 layer: 2 × (4 × 64 + 2 × 8 × 16) × 3 + 4 × 8 × 9 operations a text
  EXPECT_NEAR(*run.peak_share, run.texts_per_second * (1024 * 3 + 288) / 1e9, 1e-9);
  EXPECT_FALSE(run.cpu_cores);
}

TEST_F(ModesTest, AServerStartedByCommandIsMeasuredAndEnded) {
  SubjectOptions options;
  options.command = std::string(WEIR_TOY_SERVER) + " port={port} leak_mb_per_s=50";
  Subject subject = open_subject(options, workload(), sleep_a_moment).value();
  ASSERT_TRUE(run_once(*session_, subject).ok());
  const Figures& run = session_->report().runs[0];
  ASSERT_TRUE(run.cpu_cores);
  EXPECT_GT(*run.resident_bytes, 0);
  EXPECT_GE(run.memory.size(), 2u);
  EXPECT_GT(run.memory.back().resident_bytes, run.memory.front().resident_bytes);
  const pid_t pid = subject.process->pid();
  subject.process.reset();
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(ModesTest, ACommandThatIsNoServerIsAnError) {
  SubjectOptions options;
  options.command = "true";
  EXPECT_EQ(open_subject(options, workload(), sleep_a_moment).error().kind, ErrorKind::kInvalidArgument);
  options.command = "echo {port}; exit 1";
  EXPECT_EQ(open_subject(options, workload(), sleep_a_moment).error().kind, ErrorKind::kUnavailable);
  options.command.clear();
  options.url = "grpc://127.0.0.1:1";
  EXPECT_EQ(open_subject(options, workload(), sleep_a_moment).error().kind, ErrorKind::kInvalidArgument);
}

TEST_F(ModesTest, CompareRunsInTurnsAndTellsTheRatio) {
  ToyBehaviour slow;
  slow.latency = milliseconds(20);
  ToyBehaviour slower;
  slower.latency = milliseconds(80);
  const auto first = ToyServer::start(slow).value();
  const auto second = ToyServer::start(slower).value();
  Subject a = subject_at(*first, "A");
  Subject b = subject_at(*second, "B");
  ASSERT_TRUE(run_compare(*session_, a, b, 2).ok());
  std::string order;
  for (const Figures& run : session_->report().runs) order += run.subject;
  EXPECT_EQ(order, "ABBA");
  const Finding& ratio = finding("p50_ratio");
  EXPECT_GT(ratio.value, 1);
  EXPECT_LE(*ratio.low, ratio.value);
  EXPECT_GE(*ratio.high, ratio.value);
  EXPECT_LT(finding("throughput_ratio").value, 1);
}

TEST_F(ModesTest, ARampStopsWhenBFails) {
  ToyBehaviour failing;
  failing.fault = ToyFault::kStatus;
  failing.fault_every = 2;
  const auto first = ToyServer::start({}).value();
  const auto second = ToyServer::start(failing).value();
  Subject a = subject_at(*first, "A");
  Subject b = subject_at(*second, "B");
  LoadSpec spec = session_->with_rate(200);
  Session session(spec, session_->hooks(), {}, [](const Figures&) {});
  RampOptions options;
  options.shares = {0.5, 1};
  ASSERT_TRUE(run_ramp(session, a, b, options).ok());
  ASSERT_EQ(session.report().findings.size(), 1u);
  EXPECT_TRUE(session.report().findings[0].problem);
  EXPECT_EQ(session.report().findings[0].value, 0.5);
  EXPECT_GT(session.report().failed_share(), 0);
}

TEST_F(ModesTest, ARampThatGoesWellEndsWithAllOnB) {
  const auto server = ToyServer::start({}).value();
  Subject a = subject_at(*server, "A");
  Subject b = subject_at(*server, "B");
  Session session(session_->with_rate(100), session_->hooks(), {}, [](const Figures&) {});
  RampOptions options;
  options.shares = {0.5, 1};
  options.most_slower = 1e6;
  ASSERT_TRUE(run_ramp(session, a, b, options).ok());
  EXPECT_FALSE(session.report().any_problem());
  EXPECT_EQ(session.report().runs.size(), 3u);
}

TEST_F(ModesTest, ASoakAtAGivenRateIsOneRunWithFindings) {
  const auto server = ToyServer::start({}).value();
  Subject subject = subject_at(*server);
  Session session(session_->with_rate(100), session_->hooks(), {}, [](const Figures&) {});
  ASSERT_TRUE(run_soak(session, subject, 2, milliseconds(100)).ok());
  EXPECT_EQ(session.report().runs.size(), 1u);
  EXPECT_EQ(session.report().findings.size(), 3u);
}

TEST_F(ModesTest, AHeatmapOpensTheServerForEachNumberOfThreads) {
  const auto server = ToyServer::start({}).value();
  std::string opened;
  const auto open = [&](int threads) -> Result<Subject> {
    opened += std::to_string(threads);
    return subject_at(*server);
  };
  ASSERT_TRUE(run_heatmap(*session_, open, {1, 2}, {1, 4}).ok());
  EXPECT_EQ(opened, "12");
  ASSERT_EQ(session_->report().runs.size(), 4u);
  EXPECT_EQ(session_->report().runs[3].server_threads, 2);
  EXPECT_GT(finding("best").value, 0);
}

TEST_F(ModesTest, TheUserStopsASearchAndKeepsItsRuns) {
  const auto server = ToyServer::start({}).value();
  Subject subject = subject_at(*server);
  RunHooks hooks;
  const auto began = Clock::now();
  hooks.wait = [&](Clock::duration duration) {
    std::this_thread::sleep_for(duration);
    return Clock::now() - began > milliseconds(600);
  };
  Session session(session_->spec(), hooks, {}, [](const Figures&) {});
  const Status status = run_knee(session, subject, 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(session.report().interrupted);
  EXPECT_FALSE(session.report().runs.empty());
}

TEST(Calibration, TheGeneratorsLimitIsMeasuredAndWarnedOf) {
  const auto limit = measure_generator(1);
  ASSERT_TRUE(limit.ok());
  EXPECT_GT(*limit, 0);
  Report report;
  report.generator_limit = 1000;
  Figures calm;
  calm.steady = true;
  calm.label = "3 clients";
  calm.requests_per_second = 400;
  Figures close = calm;
  close.requests_per_second = 600;
  close.label = "7 clients";
  report.runs = {calm};
  EXPECT_TRUE(warnings_of(report).empty());
  report.runs = {calm, close};
  ASSERT_EQ(warnings_of(report).size(), 1u);
  EXPECT_NE(warnings_of(report)[0].find("7 clients"), std::string::npos);
  report.runs[0].generator_cpu_share = 0.9;
  report.runs[0].steady = false;
  EXPECT_EQ(warnings_of(report).size(), 3u);
}

}  // namespace
}  // namespace weir::loadgen
