// How soon a connection that was refused for load is listened to again. Refusals come at once, but a client that
// answers each by asking again would have the server do nothing but refuse; so past a number of refusals a second, the
// next request of a refused connection is read later, by at most the second that Retry-After names at least: a client
// that heeds it never notices.
//
// One per network thread, used on it alone.
#pragma once

#include <algorithm>

#include "base/deadline.h"

namespace weir::serve::front::http {

class RefusalPace {
 public:
  /// Refusals a second that a thread gives to clients that do not wait: at some twenty microseconds each, half a
  /// percent of a core.
  static constexpr Clock::duration kInterval = std::chrono::milliseconds(4);
  /// Refusals that come faster than that are not held back yet.
  static constexpr int kBurst = 50;
  static constexpr Clock::duration kLongestRest = std::chrono::seconds(1);

  /// A request was refused: how long its connection rests before its next one is read.
  Clock::duration refused(Clock::time_point now) {
    const Clock::time_point earliest = now - kBurst * kInterval;
    next_ = std::clamp(next_ + kInterval, earliest + kInterval, now + kLongestRest);
    return std::max(next_ - now, Clock::duration::zero());
  }

 private:
  Clock::time_point next_{};  ///< When a refusal at the even pace would come.
};

}  // namespace weir::serve::front::http
