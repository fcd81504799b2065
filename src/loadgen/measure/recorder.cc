#include "loadgen/measure/recorder.h"

#include <algorithm>

namespace weir::loadgen {
namespace {

bool has_latency(Outcome outcome) { return outcome.answered() || outcome.ending == Ending::kTimeout; }

}  // namespace

void Recording::merge(const Recording& other) {
  latency.merge(other.latency);
  send_lag.merge(other.send_lag);
  outcomes.merge(other.outcomes);
  requests += other.requests;
  texts += other.texts;
  tokens += other.tokens;
  if (other.intervals.size() > intervals.size()) intervals.resize(other.intervals.size());
  for (std::size_t i = 0; i < other.intervals.size(); ++i) {
    intervals[i].answered += other.intervals[i].answered;
    intervals[i].failed += other.intervals[i].failed;
    intervals[i].latency.merge(other.intervals[i].latency);
  }
  warm_up_latency.merge(other.warm_up_latency);
  warm_up_outcomes.merge(other.warm_up_outcomes);
  first_latency = std::max(first_latency, other.first_latency);
}

void Recorder::add(const Ended& request) {
  const Nanoseconds latency = request.ended - request.intended;
  if (request.intended < window_.begin) {
    if (recording_.warm_up_outcomes.total() == 0) recording_.first_latency = latency;
    recording_.warm_up_outcomes.add(request.outcome);
    if (has_latency(request.outcome)) recording_.warm_up_latency.record(latency);
  } else if (request.intended < window_.end) {
    recording_.outcomes.add(request.outcome);
    recording_.send_lag.record(request.sent - request.intended);
    if (has_latency(request.outcome)) recording_.latency.record(latency);
  }
  if (!window_.contains(request.ended)) return;
  if (request.outcome.answered()) {
    ++recording_.requests;
    recording_.texts += request.texts;
    recording_.tokens += request.tokens;
  }
  add_to_interval(request);
}

void Recorder::add_to_interval(const Ended& request) {
  const auto index = static_cast<std::size_t>((request.ended - window_.begin) / interval_);
  if (index >= most_intervals_) return;
  if (index >= recording_.intervals.size()) recording_.intervals.resize(index + 1);
  Interval& interval = recording_.intervals[index];
  ++(request.outcome.answered() ? interval.answered : interval.failed);
  if (has_latency(request.outcome)) interval.latency.record(request.ended - request.intended);
}

}  // namespace weir::loadgen
