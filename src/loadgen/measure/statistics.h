// The statistics that verdicts rest on. Pure functions; whatever is random has a fixed seed.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace weir::loadgen {

/// 0 when empty.
double median(std::vector<double> values);

struct Trend {
  double slope = 0;  ///< Theil–Sen: the median of the slopes between all pairs of points.
  double low = 0;    ///< 95 % confidence interval of the slope (Sen's, from the pairs' ranks).
  double high = 0;
  double p_value = 1;  ///< Mann–Kendall, two-sided: how likely such an order is without any trend.
};

/// The trend of `y` over `x`, of equal length. Robust: up to 29 % of the points may lie anywhere. More than 300 points
/// are thinned out to medians of neighbours first. Fewer than 8 points: no trend, p_value 1.
Trend find_trend(const std::vector<double>& x, const std::vector<double>& y);

struct Ratio {
  double ratio = 1;
  double low = 0;  ///< 95 % confidence interval.
  double high = 0;
  std::size_t pairs = 0;

  bool differs_from_one() const { return low > 1 || high < 1; }
};

/// The ratio b / a from paired measurements, all positive: the mean of the logarithms of the pairs' ratios, with
/// Student's t interval. With fewer than two pairs the interval is [0, infinity].
Ratio paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

/// Events that come again and again at the same distance.
struct Period {
  double seconds = 0;
  std::size_t events = 0;
  double height = 0;   ///< The median of the events' peaks.
  double p_value = 1;  ///< How likely as many events at random times would be as regular.
};

/// Looks for periodic spikes in `y`, a value for each interval of `step_seconds`. A spike is an interval, or several in
/// a row, above median + 8 × the median absolute deviation and above 1.5 × the median. Its time is that of its highest
/// interval. Spikes are periodic when there are at least four, one period fits all gaps between them within a quarter
/// of it or one interval (gaps of several periods allowed), and p < 0.01 by 2,000 draws of random times. Small ones
/// between the large do not hide them: all spikes are looked at, then those above 25, 50, 75 % of the fourth highest,
/// and p is told for the four looks together. Nothing otherwise.
std::optional<Period> find_periodic_spikes(const std::vector<double>& y, double step_seconds);

}  // namespace weir::loadgen
