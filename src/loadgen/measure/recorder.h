// What one thread of the load has seen. Two rules decide what counts, the same for both kinds of load:
//
//   latencies   of requests that should have been sent within the window, from that moment, whenever they end;
//   throughput  answers that arrived within the window.
//
// So a server that stalls cannot hide: what it should have answered during the stall is in the percentiles. A request
// that timed out counts with the time it waited, one that failed otherwise has no latency. All before the window is the
// warm-up, and is kept apart.
//
// One thread each; merged after the threads have ended.
#pragma once

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "loadgen/measure/histogram.h"
#include "loadgen/measure/outcome.h"

namespace weir::loadgen {

/// Half open: [begin, end).
struct Window {
  Clock::time_point begin = Clock::time_point::max();
  Clock::time_point end = Clock::time_point::max();

  bool contains(Clock::time_point at) const { return at >= begin && at < end; }
  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

/// A request that has ended.
struct Ended {
  Clock::time_point intended;  ///< When it should have been sent.
  Clock::time_point sent;
  Clock::time_point ended;
  Outcome outcome;
  std::uint32_t texts = 1;
  std::uint32_t tokens = 0;  ///< 0 when they are not known.
};

/// A part of the window, by when requests ended.
struct Interval {
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  Histogram latency{Histogram::kCoarse};
};

struct Recording {
  Histogram latency;
  Histogram send_lag;  ///< How late the load itself was: sent - intended.
  OutcomeCounts outcomes;
  std::uint64_t requests = 0;  ///< Answered within the window, as are the next two.
  std::uint64_t texts = 0;
  std::uint64_t tokens = 0;
  std::vector<Interval> intervals;

  Histogram warm_up_latency;
  OutcomeCounts warm_up_outcomes;
  Nanoseconds first_latency{0};  ///< Of the first request of all.

  void merge(const Recording& other);
};

class Recorder {
 public:
  /// `interval` cuts the window for the series; `intervals` bounds their number.
  Recorder(Clock::duration interval, std::size_t intervals) : interval_(interval), most_intervals_(intervals) {}

  /// Known when the warm-up is over; must begin after everything that was added before.
  void set_window(const Window& window) { window_ = window; }
  void add(const Ended& request);

  const Recording& recording() const { return recording_; }

 private:
  void add_to_interval(const Ended& request);

  Clock::duration interval_;
  std::size_t most_intervals_;
  Window window_;
  Recording recording_;
};

}  // namespace weir::loadgen
