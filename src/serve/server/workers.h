// Threads for what would hold up a network thread: parsing and writing large bodies. The queue is bounded by its users:
// a connection has one request at a time, and a request one piece of work.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weir::serve::server {

class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();  ///< Does what is queued, then joins.
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Any thread; never blocks.
  void run(std::function<void()> work);

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace weir::serve::server
