#include "loadgen/measure/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <random>

namespace weir::loadgen {
namespace {

constexpr std::size_t kMostPoints = 300;
constexpr std::size_t kFewestPoints = 8;
constexpr double kNormal975 = 1.959964;

/// The 97.5 % quantile of Student's t.
double t_quantile(std::size_t degrees_of_freedom) {
  static constexpr double kSmall[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  if (degrees_of_freedom <= std::size(kSmall)) return kSmall[degrees_of_freedom - 1];
  // Cornish–Fisher expansion: within 0.001 from here on.
  const double z = kNormal975;
  const auto n = static_cast<double>(degrees_of_freedom);
  return z + (z * z * z + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

/// Medians of neighbouring points, so that at most kMostPoints are left.
std::vector<double> thinned(const std::vector<double>& values) {
  const std::size_t group = (values.size() + kMostPoints - 1) / kMostPoints;
  if (group <= 1) return values;
  std::vector<double> medians;
  for (std::size_t at = 0; at < values.size(); at += group) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(at + group, values.size()));
    medians.push_back(median({begin, end}));
  }
  return medians;
}

/// The variance of Mann–Kendall's S, corrected for values that are equal.
double kendall_variance(std::vector<double> values) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  double sum = term(static_cast<double>(values.size()));
  std::sort(values.begin(), values.end());
  for (std::size_t at = 0; at < values.size();) {
    std::size_t end = at;
    while (end < values.size() && values[end] == values[at]) ++end;
    sum -= term(static_cast<double>(end - at));
    at = end;
  }
  return sum / 18;
}

double two_sided_p(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

struct Spike {
  double at = 0;
  double height = 0;
};

/// The least height of a spike.
double spike_bound(const std::vector<double>& y, double middle) {
  std::vector<double> deviations;
  deviations.reserve(y.size());
  for (const double value : y) deviations.push_back(std::abs(value - middle));
  return std::max(middle + 8 * median(deviations), 1.5 * middle);
}

/// Intervals above `bound`, those in a row as one.
std::vector<Spike> find_spikes(const std::vector<double>& y, double step_seconds, double bound) {
  std::vector<Spike> spikes;
  bool inside = false;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] <= bound) {
      inside = false;
      continue;
    }
    const Spike spike{static_cast<double>(i) * step_seconds, y[i]};
    if (!inside) {
      spikes.push_back(spike);
    } else if (spike.height > spikes.back().height) {
      spikes.back() = spike;
    }
    inside = true;
  }
  return spikes;
}

/// How far the gaps between ascending times are from whole periods at worst, as a share of the period; the period is
/// the median gap. Infinity when a gap is shorter than half of it.
double irregularity(const std::vector<double>& times, double& period) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  period = median(gaps);
  if (period <= 0) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (const double gap : gaps) {
    const double periods = std::round(gap / period);
    if (periods < 1) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(gap / period - periods));
  }
  return worst;
}

/// The share of draws of as many random times, on the same grid, that are as regular.
double chance_of_regularity(std::size_t events, std::size_t steps, double step_seconds, double observed) {
  constexpr int kDraws = 2000;
  std::mt19937_64 random(20240601);
  std::uniform_int_distribution<std::size_t> anywhere(0, steps - 1);
  int as_regular = 0;
  std::vector<double> times(events);
  for (int draw = 0; draw < kDraws; ++draw) {
    for (double& time : times) time = static_cast<double>(anywhere(random)) * step_seconds;
    std::sort(times.begin(), times.end());
    double period = 0;
    if (irregularity(times, period) <= observed + 1e-9) ++as_regular;
  }
  return static_cast<double>(as_regular + 1) / (kDraws + 1);
}

constexpr std::size_t kFewestEvents = 4;
constexpr double kSignificant = 0.01;

/// The period of the spikes, if they have one.
std::optional<Period> period_of(const std::vector<Spike>& spikes, std::size_t steps, double step_seconds) {
  constexpr double kMostIrregular = 0.25;
  // More than every third interval: that is how the server is, not an event.
  if (spikes.size() < kFewestEvents || spikes.size() > steps / 3) return std::nullopt;
  std::vector<double> times;
  std::vector<double> heights;
  for (const Spike& spike : spikes) {
    times.push_back(spike.at);
    heights.push_back(spike.height);
  }
  Period period;
  const double observed = irregularity(times, period.seconds);
  if (period.seconds <= 0 || observed > std::max(kMostIrregular, step_seconds / period.seconds)) return std::nullopt;
  period.events = spikes.size();
  period.height = median(heights);
  period.p_value = chance_of_regularity(spikes.size(), steps, step_seconds, observed);
  // The median gap is a whole number of intervals; the whole span is not cut as coarsely.
  const double periods = std::round((times.back() - times.front()) / period.seconds);
  period.seconds = (times.back() - times.front()) / periods;
  return period;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Trend find_trend(const std::vector<double>& all_x, const std::vector<double>& all_y) {
  assert(all_x.size() == all_y.size());
  Trend trend;
  if (all_x.size() < kFewestPoints) return trend;
  const std::vector<double> x = thinned(all_x);
  const std::vector<double> y = thinned(all_y);
  std::vector<double> slopes;
  double s = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      if (x[j] == x[i]) continue;
      slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
      s += y[j] > y[i] ? 1 : (y[j] < y[i] ? -1 : 0);
    }
  }
  if (slopes.empty()) return trend;
  std::sort(slopes.begin(), slopes.end());
  trend.slope = median(slopes);
  const double deviation = std::sqrt(kendall_variance(y));
  if (deviation > 0) trend.p_value = two_sided_p((std::abs(s) - 1) / deviation * (s == 0 ? 0 : 1));
  const double margin = kNormal975 * deviation;
  const auto count = static_cast<double>(slopes.size());
  const auto rank = [&](double at) { return slopes[static_cast<std::size_t>(std::clamp(at, 0.0, count - 1))]; };
  trend.low = rank((count - margin) / 2);
  trend.high = rank((count + margin) / 2);
  return trend;
}

Ratio paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  assert(a.size() == b.size());
  Ratio result;
  result.pairs = a.size();
  result.high = std::numeric_limits<double>::infinity();
  if (a.empty()) return result;
  std::vector<double> logarithms;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    assert(a[i] > 0 && b[i] > 0);
    logarithms.push_back(std::log(b[i] / a[i]));
    sum += logarithms.back();
  }
  const auto n = static_cast<double>(a.size());
  const double mean = sum / n;
  result.ratio = std::exp(mean);
  if (a.size() < 2) return result;
  double squares = 0;
  for (const double value : logarithms) squares += (value - mean) * (value - mean);
  const double margin = t_quantile(a.size() - 1) * std::sqrt(squares / (n - 1) / n);
  result.low = std::exp(mean - margin);
  result.high = std::exp(mean + margin);
  return result;
}

std::optional<Period> find_periodic_spikes(const std::vector<double>& y, double step_seconds) {
  constexpr double kShares[] = {0, 0.25, 0.5, 0.75};
  const double middle = median(y);
  const double bound = spike_bound(y, middle);
  std::vector<Spike> highest = find_spikes(y, step_seconds, bound);
  if (highest.size() < kFewestEvents) return std::nullopt;
  std::nth_element(highest.begin(), highest.begin() + (kFewestEvents - 1), highest.end(),
                   [](const Spike& a, const Spike& b) { return a.height > b.height; });
  const double fourth = highest[kFewestEvents - 1].height;
  for (const double share : kShares) {
    const double level = std::max(bound, middle + share * (fourth - middle));
    auto period = period_of(find_spikes(y, step_seconds, level), y.size(), step_seconds);
    if (!period) continue;
    period->p_value *= std::size(kShares);  // as many looks, as many chances to be fooled
    if (period->p_value < kSignificant) return period;
  }
  return std::nullopt;
}

}  // namespace weir::loadgen
