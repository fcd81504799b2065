#include "serve/admission/gate.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir::serve::admission {
namespace {

using Place = Gate::Place;

Options small(std::size_t permits, std::size_t waiting_room) {
  Options options;
  options.permits = permits;
  options.waiting_room = waiting_room;
  return options;
}

/// Enters and notes, in order, who was admitted.
struct Clients {
  Gate& gate;
  std::vector<std::size_t> admitted;  // before the places, which may admit others when they are destroyed
  std::vector<std::unique_ptr<Place>> places;

  Status enter() {
    places.push_back(std::make_unique<Place>(gate));
    return gate.enter(*places.back(), [this, i = places.size() - 1] { admitted.push_back(i); });
  }
};

TEST(Gate, AdmitsThenSeatsThenRefuses) {
  Gate gate(small(2, 1));
  Clients clients{gate, {}, {}};
  EXPECT_TRUE(clients.enter().ok());
  EXPECT_TRUE(clients.enter().ok());
  EXPECT_TRUE(clients.enter().ok());
  EXPECT_EQ(gate.numbers().concurrency, 2u);
  EXPECT_EQ(gate.numbers().waiting, 1u);

  const Status refused = clients.enter();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kOverloaded);
  for (const char* part : {"2 ", "1 ", "--permits", "--waiting-room"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(clients.admitted, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(gate.numbers().waiting, 1u) << "the refused one takes no room";
}

TEST(Gate, FirstComeFirstServed) {
  Gate gate(small(1, 3));
  Clients clients{gate, {}, {}};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(clients.enter().ok());
  for (std::size_t i = 0; i < 4; ++i) clients.places[i]->leave();
  EXPECT_EQ(clients.admitted, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(gate.numbers().concurrency, 0u);
  EXPECT_EQ(gate.numbers().waiting, 0u);
}

TEST(Gate, OneWhoGoesFreesItsChairAtOnce) {
  Gate gate(small(1, 2));
  Clients clients{gate, {}, {}};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(clients.enter().ok());
  clients.places[1]->leave();
  EXPECT_EQ(gate.numbers().waiting, 1u);
  EXPECT_TRUE(clients.enter().ok()) << "the chair is free again";
  clients.places[0]->leave();
  EXPECT_EQ(clients.admitted, (std::vector<std::size_t>{0, 2})) << "who left is not admitted";
}

TEST(Gate, DestroyingAPlaceLeaves) {
  Gate gate(small(1, 1));
  bool admitted = false;
  auto waiting = std::make_unique<Place>(gate);
  {
    Place place(gate);
    ASSERT_TRUE(gate.enter(place, [] {}).ok());
    ASSERT_TRUE(gate.enter(*waiting, [&] { admitted = true; }).ok());
    EXPECT_FALSE(admitted);
  }
  EXPECT_TRUE(admitted);
  waiting.reset();
  EXPECT_EQ(gate.numbers().concurrency, 0u);
}

TEST(Gate, LeavingTwiceGivesBackOnce) {
  Gate gate(small(2, 0));
  Clients clients{gate, {}, {}};
  ASSERT_TRUE(clients.enter().ok());
  ASSERT_TRUE(clients.enter().ok());
  clients.places[0]->leave();
  clients.places[0]->leave();
  EXPECT_EQ(gate.numbers().concurrency, 1u);
}

TEST(Gate, OneWhoLeftBeforeEnteringIsNotAdmitted) {
  Gate gate(small(1, 0));
  Place place(gate);
  place.leave();
  EXPECT_TRUE(gate.enter(place, [] { FAIL() << "admitted though gone"; }).ok());
  EXPECT_EQ(gate.numbers().concurrency, 0u);
}

TEST(Gate, WithoutPermitsOrRoomEveryoneIsRefused) {
  Gate gate(small(0, 0));
  Place place(gate);
  EXPECT_FALSE(gate.enter(place, [] {}).ok());
}

TEST(Gate, RetryAfterCountsWhoIsAheadAndHowFastTheyLeave) {
  auto now = Clock::time_point(std::chrono::seconds(1000));
  Options options = small(10, 10);
  options.now = [&now] { return now; };
  Gate gate(options);
  for (int i = 0; i < 10; ++i) {  // one a second
    Place place(gate);
    ASSERT_TRUE(gate.enter(place, [] {}).ok());
    now += std::chrono::seconds(1);
  }
  Clients clients{gate, {}, {}};
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(clients.enter().ok());
  // The window holds the last nine departures and the current, still empty second.
  EXPECT_NEAR(gate.numbers().retry_after_s, 16, 1);
}

/// Places that any thread may pick up and make leave.
class SharedPlaces {
 public:
  void put(std::shared_ptr<Place> place) {
    const std::lock_guard lock(mutex_);
    places_.push_back(std::move(place));
  }
  std::shared_ptr<Place> take(std::size_t random) {
    const std::lock_guard lock(mutex_);
    if (places_.empty()) return nullptr;
    std::swap(places_[random % places_.size()], places_.back());
    auto place = std::move(places_.back());
    places_.pop_back();
    return place;
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Place>> places_;
};

/// Threads enter, and make each other's places leave at random moments. Whatever the interleaving: never more inside
/// than permits, nobody admitted twice, and nothing is left over.
TEST(Gate, RandomInterleavingsLeakNothing) {
  constexpr std::size_t kPermits = 5;
  constexpr unsigned kThreads = 4;
  Gate gate(small(kPermits, 7));
  std::atomic<int> admitted{0};
  std::atomic<int> refused{0};
  std::atomic<std::size_t> most{0};
  SharedPlaces shared;

  const auto client = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 2000; ++i) {
      const auto place = std::make_shared<Place>(gate);
      const auto calls = std::make_shared<std::atomic<int>>(0);
      if (random() % 4 == 0) shared.put(place);  // others may make it leave while it enters
      const Status status = gate.enter(*place, [&admitted, calls] {
        EXPECT_EQ(calls->fetch_add(1), 0) << "admitted twice";
        ++admitted;
      });
      if (!status.ok()) ++refused;
      const auto numbers = gate.numbers();
      EXPECT_LE(numbers.concurrency, kPermits);
      EXPECT_LE(numbers.waiting, 7u);
      most = std::max(most.load(), numbers.concurrency);
      if (random() % 2 == 0) shared.put(place);
      if (random() % 2 == 0) continue;
      if (const auto other = shared.take(random())) other->leave();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(client, i + 1);
  for (auto& thread : threads) thread.join();
  while (const auto place = shared.take(0)) place->leave();

  EXPECT_EQ(gate.numbers().concurrency, 0u);
  EXPECT_EQ(gate.numbers().waiting, 0u);
  EXPECT_GT(admitted, 0);
  EXPECT_GT(refused, 0) << "the test did not reach the limits";
  EXPECT_EQ(most, kPermits);
  Place last(gate);
  bool in = false;
  ASSERT_TRUE(gate.enter(last, [&in] { in = true; }).ok());
  EXPECT_TRUE(in);
}

}  // namespace
}  // namespace weir::serve::admission
