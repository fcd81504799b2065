#include "loadgen/http/http_target.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "loadgen/measure/outcome.h"
#include "loadgen/toy/toy_server.h"

namespace weir::loadgen {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<Target> target_at(const std::string& url, std::size_t body_bytes = 20) {
  HttpRequests requests;
  requests.url = parse_url(url + "/v1/embeddings", "--url").value();
  requests.bodies = {"{\"input\":\"" + std::string(body_bytes, 'x') + "\"}"};
  requests.sizes = {{1, 7}};
  requests.check = [](std::string_view body, const RequestSize&, bool) {
    return body.find("embedding") != std::string_view::npos;
  };
  return make_http_target(std::move(requests)).value();
}

/// Sends `count` requests one after the other; how each ended.
std::vector<Outcome> ask(Driver& driver, int count) {
  std::vector<Outcome> outcomes;
  std::vector<Completion> completions;
  const auto give_up = Clock::now() + std::chrono::seconds(30);
  for (int i = 0; i < count; ++i) {
    driver.start(0, 0);
    completions.clear();
    while (completions.empty() && Clock::now() < give_up) driver.wait(give_up, completions);
    if (completions.empty()) return outcomes;
    outcomes.push_back(completions[0].outcome);
  }
  return outcomes;
}

std::vector<Outcome> ask_toy(const ToyBehaviour& behaviour, int count) {
  const auto server = ToyServer::start(behaviour).value();
  return ask(*target_at(server->url())->open(1).value(), count);
}

std::vector<Ending> endings(const std::vector<Outcome>& outcomes) {
  std::vector<Ending> found;
  for (const Outcome& outcome : outcomes) found.push_back(outcome.ending);
  return found;
}

TEST(HttpTarget, AnswersAreCountedAsSuch) {
  EXPECT_EQ(endings(ask_toy({}, 200)), std::vector<Ending>(200, Ending::kAnswered));
}

TEST(HttpTarget, LargeRequestsAreSentWhole) {
  const auto server = ToyServer::start({}).value();
  const auto target = target_at(server->url(), 8u << 20);
  EXPECT_EQ(endings(ask(*target->open(1).value(), 3)), std::vector<Ending>(3, Ending::kAnswered));
}

TEST(HttpTarget, EveryFaultHasItsKind) {
  const std::pair<ToyFault, Ending> kinds[] = {
      {ToyFault::kStatus, Ending::kStatus},           {ToyFault::kClose, Ending::kClosedEarly},
      {ToyFault::kCloseMidway, Ending::kClosedEarly}, {ToyFault::kGarbage, Ending::kNotTheProtocol},
      {ToyFault::kWrongBody, Ending::kWrongAnswer},
  };
  for (const auto& [fault, ending] : kinds) {
    ToyBehaviour behaviour;
    behaviour.fault = fault;
    behaviour.status = 429;
    EXPECT_EQ(endings(ask_toy(behaviour, 3)), std::vector<Ending>(3, ending)) << static_cast<int>(fault);
  }
}

TEST(HttpTarget, AStatusIsKept) {
  ToyBehaviour behaviour;
  behaviour.fault = ToyFault::kStatus;
  behaviour.status = 429;
  behaviour.fault_every = 2;
  const auto outcomes = ask_toy(behaviour, 4);
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[1].code, 429);
  EXPECT_TRUE(outcomes[2].answered());
}

TEST(HttpTarget, NobodyListensIsRefused) {
  std::string url;
  { url = ToyServer::start({}).value()->url(); }
  EXPECT_EQ(endings(ask(*target_at(url)->open(1).value(), 2)), std::vector<Ending>(2, Ending::kConnectRefused));
}

TEST(HttpTarget, AConnectionClosedWhileIdleIsOpenedAgain) {
  auto server = ToyServer::start({}).value();
  const std::uint16_t port = server->port();
  const auto driver = target_at(server->url())->open(1).value();
  EXPECT_EQ(endings(ask(*driver, 2)), std::vector<Ending>(2, Ending::kAnswered));
  server.reset();
  server = ToyServer::start({}, port).value();
  EXPECT_EQ(endings(ask(*driver, 2)), std::vector<Ending>(2, Ending::kAnswered));
}

TEST(HttpTarget, AnAbandonedRequestDoesNotEndAndItsSlotIsFree) {
  ToyBehaviour behaviour;
  behaviour.fault = ToyFault::kSilence;
  behaviour.fault_every = 2;
  const auto server = ToyServer::start(behaviour).value();
  const auto driver = target_at(server->url())->open(1).value();
  EXPECT_EQ(endings(ask(*driver, 1)), std::vector<Ending>(1, Ending::kAnswered));
  driver->start(0, 0);
  std::vector<Completion> completions;
  driver->wait(Clock::now() + milliseconds(20), completions);
  EXPECT_TRUE(completions.empty());
  driver->abandon(0);
  EXPECT_EQ(endings(ask(*driver, 1)), std::vector<Ending>(1, Ending::kAnswered));
}

TEST(HttpTarget, ManySlotsAtOnce) {
  ToyBehaviour behaviour;
  behaviour.latency = milliseconds(20);
  const auto server = ToyServer::start(behaviour).value();
  const auto driver = target_at(server->url())->open(300).value();
  for (std::uint32_t slot = 0; slot < 300; ++slot) driver->start(slot, 0);
  std::vector<Completion> completions;
  const auto give_up = Clock::now() + std::chrono::seconds(30);
  while (completions.size() < 300 && Clock::now() < give_up) driver->wait(give_up, completions);
  ASSERT_EQ(completions.size(), 300u);
  std::vector<bool> seen(300);
  for (const Completion& completion : completions) {
    EXPECT_TRUE(completion.outcome.answered());
    seen[completion.slot] = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(300, true));
}

}  // namespace
}  // namespace weir::loadgen
