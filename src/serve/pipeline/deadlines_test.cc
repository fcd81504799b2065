#include "serve/pipeline/deadlines.h"

#include <future>

#include <gtest/gtest.h>

namespace weir::serve {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Requests arrive far in the future, so that the object's own thread never finds one expired before the test does.
const Clock::time_point kArrival = Clock::now() + hours(1000);
constexpr seconds kMaxWait{60};

RequestPtr arriving(Deadline deadline = Deadline()) {
  auto request = std::make_shared<Request>();
  request->arrived = kArrival;
  request->deadline = deadline;
  request->stage = Stage::kAdmission;
  return request;
}

TEST(Deadlines, FinishesAtTheRequestsDeadlineInAnyStage) {
  for (const Stage stage : {Stage::kAdmission, Stage::kTokenize, Stage::kBatch, Stage::kEngine}) {
    Deadlines deadlines(kMaxWait);
    const auto request = arriving(Deadline(kArrival + milliseconds(1500)));
    ASSERT_TRUE(deadlines.add(request));
    request->stage = stage;
    if (stage == Stage::kEngine) request->first_batch_ns = 1;
    deadlines.expire(kArrival + milliseconds(1499));
    EXPECT_FALSE(request->is_finished());
    deadlines.expire(kArrival + milliseconds(1500));
    ASSERT_TRUE(request->error.has_value());
    EXPECT_EQ(request->error->kind, ErrorKind::kTimeout);
    EXPECT_NE(request->error->message.find("1500 ms"), std::string::npos) << request->error->message;
    EXPECT_NE(request->error->message.find(stage_name(stage)), std::string::npos) << request->error->message;
    deadlines.remove(request);
  }
}

TEST(Deadlines, TheLongestWaitEndsThoseThatInferenceHasNotBegunOn) {
  Deadlines deadlines(kMaxWait);
  const auto waiting = arriving();
  const auto computing = arriving();
  computing->first_batch_ns = 1;
  ASSERT_TRUE(deadlines.add(waiting));
  ASSERT_TRUE(deadlines.add(computing));
  deadlines.expire(kArrival + kMaxWait);
  ASSERT_TRUE(waiting->error.has_value());
  EXPECT_NE(waiting->error->message.find("60 s (--max-wait)"), std::string::npos) << waiting->error->message;
  EXPECT_FALSE(computing->is_finished());
  deadlines.expire(kArrival + hours(1));
  EXPECT_FALSE(computing->is_finished()) << "it has no deadline";
  finish(computing);
  deadlines.remove(waiting);
  deadlines.remove(computing);
}

TEST(Deadlines, AfterTheLongestWaitTheDeadlineStillHolds) {
  Deadlines deadlines(kMaxWait);
  const auto request = arriving(Deadline(kArrival + seconds(90)));
  request->first_batch_ns = 1;
  ASSERT_TRUE(deadlines.add(request));
  deadlines.expire(kArrival + kMaxWait);
  EXPECT_FALSE(request->is_finished());
  deadlines.expire(kArrival + seconds(90));
  EXPECT_TRUE(request->is_finished());
  deadlines.remove(request);
}

TEST(Deadlines, ItsThreadFinishesWhatIsLate) {
  Deadlines deadlines(kMaxWait);
  const auto never = arriving();
  ASSERT_TRUE(deadlines.add(never));  // the thread sleeps until then, and must wake up earlier
  const auto request = std::make_shared<Request>();
  request->arrived = Clock::now();
  request->deadline = Deadline::after(milliseconds(20));
  std::promise<void> done;
  request->done = [&](const RequestPtr& finished) {
    EXPECT_TRUE(finished->deadline.expired());
    done.set_value();
  };
  ASSERT_TRUE(deadlines.add(request));
  done.get_future().wait();
  EXPECT_EQ(request->error->kind, ErrorKind::kTimeout);
  deadlines.remove(request);
  deadlines.remove(never);
}

TEST(Deadlines, KnowsWhoIsLeft) {
  Deadlines deadlines(kMaxWait);
  const auto request = arriving();
  EXPECT_TRUE(deadlines.wait_empty(Deadline(Clock::now())));
  ASSERT_TRUE(deadlines.add(request));
  EXPECT_EQ(deadlines.requests(), std::vector<RequestPtr>{request});
  EXPECT_FALSE(deadlines.wait_empty(Deadline(Clock::now())));
  std::thread remover([&] { deadlines.remove(request); });
  EXPECT_TRUE(deadlines.wait_empty(Deadline()));
  remover.join();
  deadlines.remove(request);
  EXPECT_TRUE(deadlines.requests().empty());
}

TEST(Deadlines, TakesNobodyOnceClosed) {
  Deadlines deadlines(kMaxWait);
  deadlines.close();
  EXPECT_FALSE(deadlines.add(arriving()));
}

}  // namespace
}  // namespace weir::serve
