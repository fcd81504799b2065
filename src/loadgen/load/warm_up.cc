#include "loadgen/load/warm_up.h"

#include <algorithm>
#include <cmath>

namespace weir::loadgen {

bool WarmUpRule::step(std::uint64_t answered) {
  totals_.push_back(answered);
  // The first step holds connecting and whatever the server does once.
  if (totals_.size() < kSteps + 2) return false;
  const auto total = [&](std::size_t back) { return static_cast<double>(totals_[totals_.size() - 1 - back]); };
  const double mean = (total(0) - total(kSteps)) / kSteps;
  if (mean <= 0) return false;
  const double allowed = std::max(0.1 * mean, 3 * std::sqrt(mean));
  for (std::size_t back = 0; back < kSteps; ++back) {
    if (std::abs(total(back) - total(back + 1) - mean) > allowed) return false;
  }
  return true;
}

}  // namespace weir::loadgen
