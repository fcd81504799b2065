// Every unfinished request, and when its time is up: the one place that enforces time limits, whatever stage a request
// is in. Two limits hold for each:
//
//   its deadline       what the client asked for (X-Request-Timeout-Ms) or the front decided
//   the longest wait   --max-wait after its arrival inference must have begun; the waiting room and all queues count
//
// When one passes, the request is finished with kTimeout at once, on this object's thread; the stage that holds it
// drops what is left of its work when it next looks. Requests are few (permits + waiting room), so a sorted map does.
//
// Thread-safe. The pipeline adds a request before its first stage and removes it after done() has been called, so this
// is also where stop() finds who is still there.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "serve/request/request.h"

namespace weir::serve {

class Deadlines {
 public:
  explicit Deadlines(Clock::duration max_wait);
  ~Deadlines();
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  /// False once closed.
  [[nodiscard]] bool add(const RequestPtr& request);
  void remove(const RequestPtr& request);

  /// add() says false from now on.
  void close();
  /// Blocks until no request is left; false when the deadline passes first.
  bool wait_empty(Deadline deadline);
  std::vector<RequestPtr> requests() const;

  /// Finishes the requests whose time is up. The thread does nothing else; tests call it with a time of their own.
  void expire(Clock::time_point now);

 private:
  using Key = std::pair<Clock::time_point, const Request*>;

  void work();
  Clock::time_point first_limit(const Request& request) const;
  std::optional<Error> timeout(const Request& request, Clock::time_point now) const;
  void schedule(const RequestPtr& request, Clock::time_point at);

  const Clock::duration max_wait_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;       // for the thread: an earlier time, or stopping
  std::condition_variable empty_;      // for wait_empty()
  std::map<Key, RequestPtr> by_time_;  // guarded by mutex_, as are all below
  std::unordered_map<const Request*, Clock::time_point> times_;
  Clock::time_point next_look_ = Clock::time_point::max();
  bool closed_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace weir::serve
