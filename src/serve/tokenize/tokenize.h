// The tokenize stage: texts to token ids, on threads of its own.
//
// Work is cut into slices of a request's inputs, of about slice_bytes each, and requests take turns: who asks for 2,048
// texts holds up nobody for longer than a slice. An input longer than that goes to a lane of its own with one more
// thread, so that a text of a million characters delays only others of its kind.
//
// Owned by the pipeline. The queue is bounded by the permits: only admitted requests come here. What fails a check is
// finished here; a request that is finished already is dropped unseen.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/request/request.h"

namespace weir::serve::tokenize {

struct Options {
  int threads = 1;  ///< At least 1; the thread for long inputs comes on top.
  std::size_t max_inputs = 2048;
  std::size_t max_listed_tokens = 1'000'000;  ///< Of a request for tokens themselves, which all stand in its answer.
  LongTextRule long_text;
  std::size_t slice_bytes = 32 * 1024;  ///< Some milliseconds of work; longer inputs take the other lane.
  std::function<Clock::time_point()> now = Clock::now;
};

class TokenizeStage {
 public:
  /// `next` gets each request whose inputs are all encoded, on one of the stage's threads.
  TokenizeStage(Options options, std::function<void(const RequestPtr&)> next);
  ~TokenizeStage();
  TokenizeStage(const TokenizeStage&) = delete;
  TokenizeStage& operator=(const TokenizeStage&) = delete;

  /// Never blocks, and never finishes the request before it returns. Any thread.
  void submit(const RequestPtr& request);

  /// Joins the threads after their current slice. What is still queued is let go, unfinished.
  void stop();

  /// Requests here, queued or in work.
  std::size_t depth() const { return depth_.load(std::memory_order_relaxed); }

 private:
  enum Lane : std::size_t { kShort, kLong };
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  struct Slice {
    JobPtr job;
    Lane lane = kShort;
    std::size_t begin = 0;
    std::size_t end = 0;  ///< Inputs of the other lane in between are skipped.
  };

  void work(Lane lane);
  void plan(const JobPtr& job);
  Slice take_slice(Lane lane);
  void encode(const Slice& slice);
  Status encode_one(Job& job, std::size_t index) const;
  void complete(const RequestPtr& request);
  bool belongs(const Input& input, Lane lane) const;
  std::size_t next_input(const Job& job, Lane lane, std::size_t from) const;

  const Options options_;
  const std::function<void(const RequestPtr&)> next_;
  std::atomic<std::size_t> depth_{0};
  std::mutex mutex_;
  bool stopping_ = false;                     // guarded by mutex_, as is the next
  std::array<std::deque<JobPtr>, 2> queues_;  // by lane
  std::array<std::condition_variable, 2> wake_;
  std::vector<std::thread> threads_;
};

}  // namespace weir::serve::tokenize
