// The load against servers whose latencies are known. Asserts only what a busy machine cannot make untrue: counts,
// lower bounds of latencies, upper bounds of throughput. How exact the percentiles are, scripts/check_bench.py
// measures.
#include "loadgen/load/run.h"

#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "loadgen/http/http_target.h"
#include "loadgen/toy/toy_server.h"

namespace weir::loadgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<Target> target_at(const std::string& url) {
  HttpRequests requests;
  requests.url = parse_url(url + "/v1/embeddings", "--url").value();
  requests.description = "toy";
  for (std::uint32_t i = 1; i <= 5; ++i) {
    requests.bodies.push_back("{\"input\":\"text " + std::to_string(i) + "\"}");
    requests.sizes.push_back({1, i});
  }
  requests.check = [](std::string_view body, const RequestSize&, bool) { return body.starts_with(R"({"object")"); };
  return make_http_target(std::move(requests)).value();
}

RunHooks hooks() {
  RunHooks hooks;
  hooks.wait = [](Clock::duration duration) {
    std::this_thread::sleep_for(duration);
    return false;
  };
  return hooks;
}

LoadSpec closed(std::uint32_t clients, Clock::duration duration = milliseconds(500)) {
  LoadSpec spec;
  spec.clients = clients;
  spec.duration = duration;
  spec.most_warm_up = milliseconds(200);
  return spec;
}

LoadSpec open(double rate, Clock::duration duration = milliseconds(500)) {
  LoadSpec spec = closed(0, duration);
  spec.rate = rate;
  return spec;
}

RunResult run_against(const ToyBehaviour& behaviour, const LoadSpec& spec) {
  const auto server = ToyServer::start(behaviour).value();
  const auto target = target_at(server->url());
  auto result = run_load(*target, spec, hooks());
  EXPECT_TRUE(result.ok()) << result.error().message;
  return std::move(result).value();
}

std::string error_against(const ToyBehaviour& behaviour, const LoadSpec& spec) {
  const auto server = ToyServer::start(behaviour).value();
  const auto target = target_at(server->url());
  const auto result = run_load(*target, spec, hooks());
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message;
}

TEST(ClosedLoop, NeverSendsFasterThanItsClientsCan) {
  ToyBehaviour behaviour;
  behaviour.latency = milliseconds(10);
  LoadSpec spec = closed(7);
  spec.threads = 2;
  const RunResult result = run_against(behaviour, spec);
  const Recording& recording = result.recording;
  EXPECT_GE(recording.latency.min(), milliseconds(10));
  EXPECT_GT(recording.requests, 0u);
  EXPECT_LE(static_cast<double>(recording.requests), 7 * (result.seconds / 0.010 + 1));
  EXPECT_EQ(recording.latency.count(), recording.outcomes.total());
  EXPECT_EQ(recording.outcomes.failed(), 0u);
  EXPECT_EQ(recording.texts, recording.requests);
  EXPECT_GE(recording.tokens, recording.requests);
  EXPECT_LE(recording.tokens, 5 * recording.requests);
  EXPECT_GT(recording.warm_up_outcomes.answered(), 0u);
  EXPECT_GE(recording.first_latency, milliseconds(10));
}

TEST(ClosedLoop, ATenthOfSlowAnswersIsInThePercentiles) {
  ToyBehaviour behaviour;
  behaviour.latency = milliseconds(2);
  behaviour.slow = milliseconds(80);
  behaviour.slow_every = 10;
  const RunResult result = run_against(behaviour, closed(4, seconds(1)));
  EXPECT_GE(result.recording.latency.percentile(95), milliseconds(79));
  EXPECT_LT(result.recording.latency.percentile(50), milliseconds(79));
}

TEST(OpenLoop, SendsWhatIsDueWhateverTheServerDoes) {
  for (const int latency_ms : {0, 300}) {
    ToyBehaviour behaviour;
    behaviour.latency = milliseconds(latency_ms);
    LoadSpec spec = open(1000, seconds(1));
    spec.threads = 2;
    const RunResult result = run_against(behaviour, spec);
    // A Poisson count deviates by its root; six times that never happens.
    EXPECT_NEAR(static_cast<double>(result.recording.outcomes.total()), 1000, 6 * std::sqrt(1000.0)) << latency_ms;
    EXPECT_EQ(result.recording.outcomes.failed(), 0u);
  }
}

TEST(OpenLoop, WaitsForAConnectionCountAsLatency) {
  ToyBehaviour behaviour;
  behaviour.latency = milliseconds(20);
  LoadSpec spec = open(150);
  spec.most_connections = 1;  // 50 requests a second can be answered; what is due waits
  const RunResult result = run_against(behaviour, spec);
  EXPECT_GE(result.recording.latency.max(), milliseconds(500));
  EXPECT_GE(result.recording.send_lag.max(), milliseconds(400));
  EXPECT_LE(result.recording.requests, 27u);
  EXPECT_EQ(result.recording.latency.count(), result.recording.outcomes.total());
}

TEST(OpenLoop, ShowsTheStallThatTheClosedLoopHides) {
  ToyBehaviour behaviour;
  behaviour.latency = milliseconds(1);
  behaviour.stall_every = seconds(1);
  behaviour.stall = milliseconds(400);
  LoadSpec one_client = closed(1, seconds(2));
  one_client.most_warm_up = {};
  LoadSpec arrivals = open(200, seconds(2));
  arrivals.most_warm_up = {};
  const RunResult hidden = run_against(behaviour, one_client);
  const RunResult shown = run_against(behaviour, arrivals);
  // A stall of 400 ms meets a fifth of the two seconds or more: a tenth of all waits 200 ms or longer.
  EXPECT_GE(shown.recording.latency.percentile(90), milliseconds(190));
  EXPECT_LT(hidden.recording.latency.percentile(90), shown.recording.latency.percentile(90));
}

TEST(OpenLoop, RecordedArrivalsAreSentAsTheyWere) {
  LoadSpec spec = open(0, seconds(1));
  spec.recorded = std::make_shared<const RecordedArrivals>(parse_arrivals("0\n0\n0\n0\n0\n0.1\n", "a").value());
  EXPECT_TRUE(spec.open_loop());
  const RunResult result = run_against({}, spec);
  EXPECT_NEAR(static_cast<double>(result.recording.outcomes.total()), 50, 6);  // six in 0.12 s
}

TEST(Run, TimeoutsAreCountedWithTheTimeTheyWaited) {
  ToyBehaviour behaviour;
  behaviour.fault = ToyFault::kSilence;
  behaviour.fault_every = 3;
  LoadSpec spec = closed(3, milliseconds(600));
  spec.timeout = milliseconds(100);
  const RunResult result = run_against(behaviour, spec);
  const auto failures = result.recording.outcomes.failures();
  ASSERT_TRUE(failures.contains("timeout"));
  EXPECT_GE(result.recording.latency.max(), milliseconds(100));
}

TEST(Run, FailuresAreCountedByKindBesideTheAnswers) {
  ToyBehaviour behaviour;
  behaviour.fault = ToyFault::kCloseMidway;
  behaviour.fault_every = 4;
  const RunResult result = run_against(behaviour, closed(2));
  const auto failures = result.recording.outcomes.failures();
  EXPECT_EQ(failures.size(), 1u);
  EXPECT_GT(failures.at("closed_early"), 0u);
  EXPECT_GT(result.recording.outcomes.answered(), failures.at("closed_early"));
}

TEST(Run, AServerThatAnswersNothingIsAnErrorWithTheReasons) {
  ToyBehaviour behaviour;
  behaviour.fault = ToyFault::kGarbage;
  EXPECT_NE(error_against(behaviour, closed(1)).find("not_the_protocol"), std::string::npos);
  behaviour.fault = ToyFault::kSilence;
  LoadSpec spec = closed(1);
  spec.timeout = milliseconds(100);
  EXPECT_NE(error_against(behaviour, spec).find("timeout"), std::string::npos);
}

TEST(Run, AServerThatIsDownIsAnError) {
  std::string url;
  { url = ToyServer::start({}).value()->url(); }
  const auto target = target_at(url);
  const auto result = run_load(*target, closed(1), hooks());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(result.error().message.find("connect_refused"), std::string::npos);
}

TEST(Run, StopsWhenTheUserWantsToAndKeepsWhatWasMeasured) {
  const auto server = ToyServer::start({}).value();
  const auto target = target_at(server->url());
  RunHooks stopping = hooks();
  const auto began = Clock::now();
  stopping.wait = [&](Clock::duration duration) {
    std::this_thread::sleep_for(duration);
    return Clock::now() - began > milliseconds(500);
  };
  const auto result = run_load(*target, closed(1, std::chrono::hours(1)), stopping);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->interrupted);
  EXPECT_LT(result->seconds, 3000);
}

TEST(Run, UsageIsSampledForEveryInterval) {
  const auto server = ToyServer::start({}).value();
  const auto target = target_at(server->url());
  RunHooks sampling = hooks();
  std::uint64_t samples = 0;
  sampling.usage = [&] { return UsageSample{0, 1.0, ++samples}; };
  const auto result = run_load(*target, closed(1, milliseconds(600)), sampling);
  ASSERT_TRUE(result.ok());
  ASSERT_GE(result->usage.size(), 3u);
  EXPECT_LT(result->usage.front().at_s, result->usage.back().at_s);
  EXPECT_EQ(result->usage.back().resident_bytes, samples);
}

TEST(Intervals, AreShortForShortWindowsAndBoundedInNumber) {
  EXPECT_EQ(interval_of(seconds(6)), milliseconds(100));
  EXPECT_EQ(interval_of(seconds(60)), milliseconds(250));
  EXPECT_EQ(interval_of(seconds(3600)), seconds(3));
  EXPECT_EQ(interval_of(milliseconds(1)), milliseconds(1));
}

}  // namespace
}  // namespace weir::loadgen
