// The batch stage of one model: a bounded queue of texts that engine instances take batches from.
//
// An instance that asks gets what is there at once, unless requests that were admitted have yet to arrive (they are
// being tokenized) and what is there does not fill a batch; then it waits for them, at most until the oldest text has
// waited for the window. So a lone client never waits, and under load the next batch is there when an instance asks.
//
// Thread-safe. Owned by serve/models.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

#include "base/result.h"
#include "serve/batch/batch_queue.h"
#include "serve/batch/options.h"
#include "serve/request/request.h"

namespace weir::serve::batch {

class Batcher {
 public:
  /// A request on its way here, from begin() until end() or destruction. Thread-safe; what has ended may outlive the
  /// batcher.
  class Expected {
   public:
    Expected() = default;
    ~Expected() { end(); }
    Expected(const Expected&) = delete;
    Expected& operator=(const Expected&) = delete;

    /// Once.
    void begin(Batcher& batcher) {
      batcher.expect();
      batcher_ = &batcher;
    }
    /// It has arrived (after add) or never will. Any number of times.
    void end() {
      if (Batcher* batcher = batcher_.exchange(nullptr)) batcher->unexpect();
    }

   private:
    std::atomic<Batcher*> batcher_{nullptr};
  };

  explicit Batcher(Options options);

  /// Queues the texts of a tokenized request. kOverloaded when the queue has no room for them.
  Status add(const RequestPtr& request);

  /// Waits for a batch. False once closed. Texts of finished requests are left out. Any number of threads.
  bool next(Batch& batch);

  /// Lets go of texts whose requests are finished, and of their memory.
  void drop_finished();

  /// Wakes everyone who waits; next() says false from now on. What is queued is let go, unfinished.
  void close();

  std::size_t depth() const;  ///< Texts queued.

 private:
  void expect();
  void unexpect();
  std::size_t most_tokens() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  BatchQueue queue_;          // guarded by mutex_, as are all below
  std::size_t upstream_ = 0;  // requests expected
  std::size_t idle_ = 0;      // instances in next()
  bool closed_ = false;
};

}  // namespace weir::serve::batch
