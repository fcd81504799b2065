#include "serve/admission/completion_rate.h"

#include <algorithm>
#include <cmath>

namespace weir::serve::admission {
namespace {

int clamp_seconds(double seconds) {
  return static_cast<int>(std::ceil(std::clamp(seconds, 1.0, double{CompletionRate::kLongestRetrySeconds})));
}

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

}  // namespace

std::int64_t CompletionRate::second_of(Clock::time_point time) const {
  return std::chrono::duration_cast<std::chrono::seconds>(time - start_).count();
}

void CompletionRate::completed(Clock::time_point now) {
  const std::int64_t second = std::max<std::int64_t>(0, second_of(now));
  Slot& slot = slots_[static_cast<std::size_t>(second % kWindowSeconds)];
  if (slot.second != second) slot = {second, 0};
  ++slot.count;
  last_ = now;
}

int CompletionRate::retry_after_s(std::size_t ahead, Clock::time_point now) const {
  if (ahead == 0) return 1;
  const std::int64_t current = second_of(now);
  std::uint64_t count = 0;
  for (const Slot& slot : slots_) {
    if (slot.second >= 0 && slot.second > current - kWindowSeconds) count += slot.count;
  }
  if (count == 0) return clamp_seconds(seconds_between(last_, now));
  // A young process has not seen a whole window; less than a second says too little.
  const double window_s = std::clamp(seconds_between(start_, now), 1.0, double{kWindowSeconds});
  return clamp_seconds(static_cast<double>(ahead) * window_s / static_cast<double>(count));
}

}  // namespace weir::serve::admission
