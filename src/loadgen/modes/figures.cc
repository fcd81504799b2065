#include "loadgen/modes/figures.h"

#include <algorithm>

namespace weir::loadgen {
namespace {

double ms(Nanoseconds duration) { return static_cast<double>(duration.count()) * 1e-6; }

void add_latencies(const Recording& recording, Figures& figures) {
  figures.p50_ms = ms(recording.latency.percentile(50));
  figures.p90_ms = ms(recording.latency.percentile(90));
  figures.p95_ms = ms(recording.latency.percentile(95));
  figures.p99_ms = ms(recording.latency.percentile(99));
  figures.p999_ms = ms(recording.latency.percentile(99.9));
  figures.max_ms = ms(recording.latency.max());
  figures.mean_ms = ms(recording.latency.mean());
  figures.first_ms = ms(recording.first_latency);
  figures.warm_up_p99_ms = ms(recording.warm_up_latency.percentile(99));
  figures.send_lag_p99_ms = ms(recording.send_lag.percentile(99));
}

void add_series(const RunResult& run, Figures& figures) {
  // The last interval may be cut short by the window's end.
  const auto whole = static_cast<std::size_t>(run.seconds / run.interval_seconds + 1e-6);
  const std::size_t count = std::min(whole, run.recording.intervals.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Interval& interval = run.recording.intervals[i];
    SeriesPoint point;
    point.at_s = static_cast<double>(i) * run.interval_seconds;
    point.requests_per_second = static_cast<double>(interval.answered) / run.interval_seconds;
    point.p50_ms = ms(interval.latency.percentile(50));
    point.p99_ms = ms(interval.latency.percentile(99));
    point.max_ms = ms(interval.latency.max());
    point.failed = interval.failed;
    figures.series.push_back(point);
  }
  for (const UsageSample& sample : run.usage) {
    figures.memory.push_back({sample.at_s, static_cast<double>(sample.resident_bytes)});
  }
}

void add_usage(const RunResult& run, Figures& figures) {
  if (run.usage.size() < 2) return;
  const UsageSample& first = run.usage.front();
  const UsageSample& last = run.usage.back();
  figures.resident_bytes = static_cast<double>(last.resident_bytes);
  if (last.at_s <= first.at_s) return;
  figures.cpu_cores = (last.cpu_seconds - first.cpu_seconds) / (last.at_s - first.at_s);
  if (figures.tokens_per_second > 0) figures.cpu_us_per_token = *figures.cpu_cores / figures.tokens_per_second * 1e6;
}

}  // namespace

Figures figures_of(const RunResult& run, const FigureBasis& basis, const std::string& subject) {
  Figures figures;
  const Recording& recording = run.recording;
  figures.subject = subject;
  figures.label = run.spec.label();
  figures.open_loop = run.spec.open_loop();
  figures.level = figures.open_loop ? run.spec.offered_rate() : run.spec.clients;
  figures.seconds = run.seconds;
  figures.warm_up_seconds = run.warm_up.seconds;
  figures.steady = run.warm_up.steady;
  figures.interrupted = run.interrupted;
  figures.interval_seconds = run.interval_seconds;
  figures.generator_cpu_share = run.generator_cpu_share;
  figures.answered = recording.outcomes.answered();
  figures.failures = recording.outcomes.failures();
  figures.failed_share = recording.outcomes.failed_share();
  if (run.seconds > 0) {
    if (figures.open_loop) figures.offered_rate = static_cast<double>(recording.outcomes.total()) / run.seconds;
    figures.requests_per_second = static_cast<double>(recording.requests) / run.seconds;
    figures.texts_per_second = static_cast<double>(recording.texts) / run.seconds;
    figures.tokens_per_second = static_cast<double>(recording.tokens) / run.seconds;
  }
  add_latencies(recording, figures);
  add_series(run, figures);
  add_usage(run, figures);
  if (basis.shape && basis.peak && basis.mean_tokens > 0) {
    const double per_text = basis.shape->operations(basis.mean_tokens, basis.mean_square_tokens);
    figures.peak_share = figures.texts_per_second * per_text / basis.peak->operations_per_second;
  }
  return figures;
}

}  // namespace weir::loadgen
