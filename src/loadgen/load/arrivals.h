// When the requests of an open loop should be sent: at random, as independent users do (Poisson), or as they were
// recorded. Values; the same seed gives the same times.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"

namespace weir::loadgen {

/// Arrivals that somebody recorded, from the first one on.
struct RecordedArrivals {
  std::vector<Clock::duration> offsets;  ///< Ascending, the first is 0; at least two.
  Clock::duration period{};              ///< After which they repeat: the last one and a mean gap.

  double rate() const;  ///< Requests per second.
};

/// A number of seconds a line, ascending; what they count from does not matter. `name` is for messages.
/// kInvalidArgument, with the line.
Result<RecordedArrivals> parse_arrivals(const std::string& text, const std::string& name);

/// The arrivals of one thread of several, ascending, without end. One thread.
class Arrivals {
 public:
  /// Poisson arrivals of `rate` requests a second. Independent streams with a share of the rate each are together
  /// Poisson arrivals of the whole rate, so threads need not talk.
  Arrivals(double rate, std::uint64_t seed);

  /// Every `threads`-th of the recorded arrivals, beginning with number `thread`; with `rate`, as much faster or slower
  /// as gives that many requests a second.
  Arrivals(std::shared_ptr<const RecordedArrivals> recorded, double rate, std::size_t thread, std::size_t threads);

  /// From the beginning of the load.
  Clock::duration next();

 private:
  double rate_;
  std::mt19937_64 random_;
  double at_s_ = 0;  ///< Poisson
  std::shared_ptr<const RecordedArrivals> recorded_;
  std::size_t index_ = 0;
  std::size_t step_ = 1;
};

}  // namespace weir::loadgen
