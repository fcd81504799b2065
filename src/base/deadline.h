// A point in time after which work is worthless. Made once, where a request arrives, and carried with it; every stage
// asks it before it spends anything.
#pragma once

#include <chrono>

namespace weir {

using Clock = std::chrono::steady_clock;

class Deadline {
 public:
  /// Never expires.
  Deadline() : at_(Clock::time_point::max()) {}
  explicit Deadline(Clock::time_point at) : at_(at) {}

  static Deadline after(Clock::duration duration, Clock::time_point now = Clock::now()) {
    const bool overflows = duration > Clock::time_point::max() - now;
    return overflows ? Deadline() : Deadline(now + duration);
  }

  Clock::time_point at() const { return at_; }
  bool never() const { return at_ == Clock::time_point::max(); }
  bool expired(Clock::time_point now = Clock::now()) const { return now >= at_; }

  /// Zero once expired.
  Clock::duration remaining(Clock::time_point now = Clock::now()) const {
    return expired(now) ? Clock::duration::zero() : at_ - now;
  }

 private:
  Clock::time_point at_;
};

}  // namespace weir
