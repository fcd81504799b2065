#include "serve/batch/batcher.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir::serve::batch {
namespace {

RequestPtr request_of(std::size_t texts, std::size_t tokens) {
  auto request = std::make_shared<Request>();
  request->encodings.resize(texts);
  for (auto& encoding : request->encodings) encoding.ids.resize(tokens, 1);
  request->remaining = texts;
  return request;
}

/// A clock that stands still: the window never passes by itself.
Options frozen() {
  Options options;
  options.now = [] { return Clock::time_point(std::chrono::hours(1'000'000)); };
  options.window = std::chrono::hours(1);
  return options;
}

TEST(Batcher, GivesWhatIsThereWhenNothingElseComes) {
  Batcher batcher(frozen());
  ASSERT_TRUE(batcher.add(request_of(1, 10)).ok());
  Batch batch;
  EXPECT_TRUE(batcher.next(batch));  // would wait for an hour if it waited for the window
  EXPECT_EQ(batch.size(), 1u);
}

TEST(Batcher, WaitsForThoseExpectedAndTakesThemTogether) {
  Batcher batcher(frozen());
  Batcher::Expected expected;
  expected.begin(batcher);
  ASSERT_TRUE(batcher.add(request_of(1, 10)).ok());
  Batch batch;
  std::thread instance([&] { EXPECT_TRUE(batcher.next(batch)); });
  ASSERT_TRUE(batcher.add(request_of(1, 10)).ok());
  expected.end();
  instance.join();
  EXPECT_EQ(batch.size(), 2u);
}

TEST(Batcher, OneExpectedThatNeverComesReleasesThoseWhoWait) {
  Batcher batcher(frozen());
  Batcher::Expected expected;
  expected.begin(batcher);
  ASSERT_TRUE(batcher.add(request_of(1, 10)).ok());
  Batch batch;
  std::thread instance([&] { EXPECT_TRUE(batcher.next(batch)); });
  expected.end();
  instance.join();
  EXPECT_EQ(batch.size(), 1u);
}

TEST(Batcher, RefusesWhatTheQueueHasNoRoomFor) {
  Options options = frozen();
  options.max_queued_texts = 10;
  Batcher batcher(options);
  ASSERT_TRUE(batcher.add(request_of(8, 10)).ok());
  const Status refused = batcher.add(request_of(3, 10));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kOverloaded);
  EXPECT_EQ(batcher.depth(), 8u);
  EXPECT_TRUE(batcher.add(request_of(2, 10)).ok());
}

TEST(Batcher, FinishedRequestsNeverReachAnInstance) {
  Batcher batcher(frozen());
  const auto gone = request_of(3, 10);
  ASSERT_TRUE(batcher.add(gone).ok());
  ASSERT_TRUE(batcher.add(request_of(1, 10)).ok());
  finish(gone, Error(ErrorKind::kTimeout, "late"));
  Batch batch;
  ASSERT_TRUE(batcher.next(batch));
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_EQ(gone.use_count(), 1) << "let go of";
}

TEST(Batcher, DropFinishedFreesTheirRoom) {
  Batcher batcher(frozen());
  const auto gone = request_of(3, 10);
  ASSERT_TRUE(batcher.add(gone).ok());
  finish(gone, Error(ErrorKind::kTimeout, "late"));
  batcher.drop_finished();
  EXPECT_EQ(batcher.depth(), 0u);
  EXPECT_EQ(gone.use_count(), 1);
}

TEST(Batcher, CloseWakesInstancesAndRefuses) {
  Batcher batcher(frozen());
  std::vector<std::thread> instances;
  for (int i = 0; i < 3; ++i) {
    instances.emplace_back([&] {
      Batch batch;
      EXPECT_FALSE(batcher.next(batch));
    });
  }
  batcher.close();
  for (auto& instance : instances) instance.join();
  EXPECT_FALSE(batcher.add(request_of(1, 10)).ok());
  Batch batch;
  EXPECT_FALSE(batcher.next(batch));
}

/// Instances, clients and cancellations at once: only texts of cancelled requests may be missing.
TEST(Batcher, ManyThreadsLoseNothing) {
  Batcher batcher{Options{}};
  constexpr int kClients = 3;
  constexpr int kRequests = 300;
  std::atomic<std::size_t> taken{0};
  std::atomic<std::size_t> cancelled{0};
  std::vector<std::thread> instances;
  for (int i = 0; i < 2; ++i) {
    instances.emplace_back([&] {
      Batch batch;
      while (batcher.next(batch)) taken += batch.size();
    });
  }
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < kRequests; ++i) {
        Batcher::Expected expected;
        expected.begin(batcher);
        const auto request = request_of(static_cast<std::size_t>(1 + i % 4), static_cast<std::size_t>(5 + i % 60));
        EXPECT_TRUE(batcher.add(request).ok());
        if (i % 7 != c) continue;
        finish(request, Error(ErrorKind::kCancelled, "gone"));
        cancelled += request->encodings.size();
      }
    });
  }
  for (auto& client : clients) client.join();
  std::size_t added = 0;
  for (int i = 0; i < kRequests; ++i) added += static_cast<std::size_t>(kClients * (1 + i % 4));
  while (batcher.depth() > 0) std::this_thread::yield();
  batcher.close();
  for (auto& instance : instances) instance.join();
  EXPECT_LE(taken, added);
  EXPECT_GE(taken + cancelled, added);
}

}  // namespace
}  // namespace weir::serve::batch
