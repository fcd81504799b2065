// How many requests left lately, to tell a refused client when to come back. Counted in slots of a second over a window
// of ten. Not thread-safe: the gate calls it under its lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/deadline.h"

namespace weir::serve::admission {

class CompletionRate {
 public:
  static constexpr int kWindowSeconds = 10;
  static constexpr int kLongestRetrySeconds = 60;

  explicit CompletionRate(Clock::time_point start) : start_(start), last_(start) {}

  void completed(Clock::time_point now);

  /// Seconds until `ahead` requests will have left at the recent rate, from 1 to 60. With no departure in the window,
  /// as long again as there has been none: nothing better is known.
  int retry_after_s(std::size_t ahead, Clock::time_point now) const;

 private:
  struct Slot {
    std::int64_t second = -1;
    std::uint64_t count = 0;
  };
  std::int64_t second_of(Clock::time_point time) const;

  Clock::time_point start_;
  Clock::time_point last_;
  std::array<Slot, kWindowSeconds> slots_{};
};

}  // namespace weir::serve::admission
