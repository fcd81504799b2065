#include "loadgen/measure/histogram.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace weir::loadgen {

std::size_t Histogram::index_of(std::uint64_t value) const {
  const int bits = std::bit_width(value);
  if (bits <= precision_bits_) return value;
  const int shift = bits - precision_bits_ - 1;
  const std::uint64_t within = (value >> shift) - (std::uint64_t{1} << precision_bits_);
  return (static_cast<std::uint64_t>(shift + 1) << precision_bits_) + within;
}

std::uint64_t Histogram::middle_of(std::size_t index) const {
  const std::uint64_t per_power = std::uint64_t{1} << precision_bits_;
  if (index < 2 * per_power) return index;  // buckets of one nanosecond
  const int shift = static_cast<int>(index >> precision_bits_) - 1;
  const std::uint64_t low = ((index & (per_power - 1)) + per_power) << shift;
  return low + (std::uint64_t{1} << shift) / 2;
}

void Histogram::record(Nanoseconds duration) {
  const std::int64_t value = std::clamp<std::int64_t>(duration.count(), 0, kLongest.count());
  const std::size_t index = index_of(static_cast<std::uint64_t>(value));
  if (index >= buckets_.size()) buckets_.resize(index + 1);
  ++buckets_[index];
  ++count_;
  sum_ += static_cast<std::uint64_t>(value);
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  assert(precision_bits_ == other.precision_bits_);
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

Nanoseconds Histogram::percentile(double percent) const {
  if (count_ == 0) return Nanoseconds(0);
  // A hair is taken off, so that 99.9 % of 1000, which no double holds exactly, is rank 999 and not 1000.
  const double wanted = std::ceil(percent / 100 * static_cast<double>(count_) * (1 - 1e-12));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1.0)), 1, count_);
  if (rank == count_) return max();
  std::uint64_t seen = 0;
  std::size_t index = 0;
  while (index < buckets_.size() && (seen += buckets_[index]) < rank) ++index;
  return Nanoseconds(std::clamp(static_cast<std::int64_t>(middle_of(index)), min_, max_));
}

}  // namespace weir::loadgen
