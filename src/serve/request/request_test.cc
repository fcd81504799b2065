#include "serve/request/request.h"

#include <thread>

#include <gtest/gtest.h>

namespace weir::serve {
namespace {

TEST(Finish, OnlyTheFirstCallCounts) {
  const auto request = std::make_shared<Request>();
  int calls = 0;
  request->done = [&](const RequestPtr& finished) {
    ++calls;
    EXPECT_EQ(finished, request);
    EXPECT_TRUE(finished->is_finished());
  };
  EXPECT_TRUE(finish(request, Error(ErrorKind::kTimeout, "late")));
  EXPECT_FALSE(finish(request));
  EXPECT_FALSE(finish(request, Error(ErrorKind::kCancelled, "gone")));
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(request->error.has_value());
  EXPECT_EQ(request->error->kind, ErrorKind::kTimeout);
}

TEST(Finish, ReleasesWhatTheCallbackHolds) {
  const auto request = std::make_shared<Request>();
  const auto held = std::make_shared<int>(1);
  request->done = [held](const RequestPtr&) {};
  EXPECT_EQ(held.use_count(), 2);
  finish(request);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Finish, RacingThreadsFinishOnce) {
  for (int round = 0; round < 200; ++round) {
    const auto request = std::make_shared<Request>();
    std::atomic<int> calls{0};
    std::atomic<int> winners{0};
    request->done = [&](const RequestPtr&) { ++calls; };
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { winners += finish(request) ? 1 : 0; });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(winners, 1);
  }
}

TEST(StageName, IsTheFolder) {
  for (const Stage stage : kStages) EXPECT_NE(stage_name(stage), "unknown");
  EXPECT_EQ(stage_name(Stage::kAdmission), "admission");
}

}  // namespace
}  // namespace weir::serve
