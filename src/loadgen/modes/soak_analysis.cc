#include "loadgen/modes/soak_analysis.h"

#include <algorithm>
#include <cstdio>

#include "loadgen/measure/statistics.h"

namespace weir::loadgen {
namespace {

constexpr double kSignificant = 0.01;
constexpr double kNotableDrift = 0.1;
constexpr double kNotableGrowth = 0.01;
constexpr double kNotableBytes = 1 << 20;

std::string p_text(double p) {
  char text[32];
  std::snprintf(text, sizeof text, p < 0.0001 ? "p < 0.0001" : "p = %.4f", p);
  return text;
}

Finding drift(const std::string& name, const std::string& what, const std::vector<double>& at,
              const std::vector<double>& values, double seconds) {
  const Trend trend = find_trend(at, values);
  const double middle = median(values);
  Finding finding;
  finding.name = name;
  finding.unit = "share per minute";
  if (middle > 0) {
    finding.value = trend.slope * 60 / middle;
    finding.low = trend.low * 60 / middle;
    finding.high = trend.high * 60 / middle;
  }
  const bool large = middle > 0 && std::abs(trend.slope) * seconds > kNotableDrift * middle;
  finding.problem = large && trend.p_value < kSignificant;
  char text[160];
  std::snprintf(text, sizeof text, "%s %s by %.2f %% a minute (95 %% interval %.2f to %.2f, %s)", what.c_str(),
                finding.problem ? "drifts" : "does not drift: it changes", 100 * finding.value,
                100 * finding.low.value_or(0), 100 * finding.high.value_or(0), p_text(trend.p_value).c_str());
  finding.text = text;
  return finding;
}

Finding spikes(const Figures& run) {
  std::vector<double> slowest;
  slowest.reserve(run.series.size());
  for (const SeriesPoint& point : run.series) slowest.push_back(point.max_ms);
  Finding finding;
  finding.name = "periodic_spikes";
  finding.unit = "s";
  const auto period = find_periodic_spikes(slowest, run.interval_seconds);
  finding.text = "no spikes at regular times";
  if (!period) return finding;
  finding.problem = true;
  finding.value = period->seconds;
  char text[160];
  std::snprintf(text, sizeof text,
                "every %.3g s the server pauses: %zu spikes, the slowest answer %.0f ms then, %.1f ms otherwise (%s)",
                period->seconds, period->events, period->height, median(slowest), p_text(period->p_value).c_str());
  finding.text = text;
  return finding;
}

Finding growth(const std::vector<MemoryPoint>& memory) {
  std::vector<double> at;
  std::vector<double> bytes;
  for (const MemoryPoint& point : memory) {
    at.push_back(point.at_s);
    bytes.push_back(point.resident_bytes);
  }
  const auto half = static_cast<std::ptrdiff_t>(at.size() / 2);
  const Trend trend = find_trend(at, bytes);
  const Trend second = find_trend({at.begin() + half, at.end()}, {bytes.begin() + half, bytes.end()});
  const double grown = trend.slope * (at.back() - at.front());
  Finding finding;
  finding.name = "memory_growth";
  finding.unit = "MB/s";
  finding.value = trend.slope * 1e-6;
  finding.low = trend.low * 1e-6;
  finding.high = trend.high * 1e-6;
  finding.problem = grown > std::max(kNotableGrowth * median(bytes), kNotableBytes) && trend.p_value < kSignificant &&
                    second.low > 0 && second.p_value < kSignificant;
  char text[160];
  std::snprintf(text, sizeof text, "the server's memory %s by %.3g MB/s (95 %% interval %.3g to %.3g, %s)",
                finding.problem ? "grows" : "is steady: it changes", finding.value, *finding.low, *finding.high,
                p_text(trend.p_value).c_str());
  finding.text = text;
  return finding;
}

}  // namespace

std::vector<Finding> analyze_soak(const Figures& run) {
  std::vector<double> at;
  std::vector<double> medians;
  std::vector<double> throughput;
  for (const SeriesPoint& point : run.series) {
    at.push_back(point.at_s);
    throughput.push_back(point.requests_per_second);
    // An interval without answers has no median: the one before stands in.
    medians.push_back(point.p50_ms > 0 || medians.empty() ? point.p50_ms : medians.back());
  }
  std::vector<Finding> findings = {drift("latency_drift", "the median latency", at, medians, run.seconds),
                                   drift("throughput_drift", "the throughput", at, throughput, run.seconds),
                                   spikes(run)};
  if (run.memory.size() >= 2) findings.push_back(growth(run.memory));
  return findings;
}

}  // namespace weir::loadgen
