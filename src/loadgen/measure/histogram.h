// A histogram of durations with a bounded relative error, whatever their size: every power of two is cut into
// 2^precision_bits buckets of equal width, as HDR histograms do, so a value read back is at most 2^-(precision_bits +
// 1) away from the one recorded (0.1 % with 9 bits). Extremes, sum and count are exact.
//
// A value, for one thread; threads record into their own and merge. Memory grows with the largest duration seen, up to
// 140 KiB with 9 bits.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace weir::loadgen {

using Nanoseconds = std::chrono::nanoseconds;

class Histogram {
 public:
  static constexpr int kFine = 9;    ///< Error at most 0.1 %: what is reported.
  static constexpr int kCoarse = 5;  ///< Error at most 1.6 %: one for each interval of a long run.

  /// Longer durations are recorded as this (73 minutes).
  static constexpr Nanoseconds kLongest{(std::int64_t{1} << 42) - 1};

  explicit Histogram(int precision_bits = kFine) : precision_bits_(precision_bits) {}

  /// A negative duration counts as zero.
  void record(Nanoseconds duration);

  /// Adds what `other`, of the same precision, holds.
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  Nanoseconds min() const { return Nanoseconds(count_ == 0 ? 0 : min_); }
  Nanoseconds max() const { return Nanoseconds(max_); }
  Nanoseconds mean() const { return Nanoseconds(count_ == 0 ? 0 : static_cast<std::int64_t>(sum_ / count_)); }

  /// The nearest rank: the smallest recorded duration that at least `percent` of all do not exceed. Zero when empty.
  Nanoseconds percentile(double percent) const;

 private:
  std::size_t index_of(std::uint64_t value) const;
  std::uint64_t middle_of(std::size_t index) const;

  int precision_bits_;
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::int64_t min_ = kLongest.count();
  std::int64_t max_ = 0;
};

}  // namespace weir::loadgen
