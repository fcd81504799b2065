// Walking along a row of floats sixteen at a time, its end included.
#pragma once

#include <cstddef>

#include "kernels/simd/f32x16.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

/// Calls f(column, lanes) for each sixteen columns; the last may have fewer lanes.
template <class F>
inline void for_each_vector(std::size_t columns, F f) {
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) f(c, kLanes);
  if (c < columns) f(c, static_cast<int>(columns - c));
}
inline F32x16 load_lanes(const float* p, int lanes) { return lanes == kLanes ? load(p) : load_first(p, lanes); }
inline void store_lanes(float* p, F32x16 v, int lanes) {
  if (lanes == kLanes) {
    store(p, v);
  } else {
    store_first(p, v, lanes);
  }
}

/// Sixteen-lane sums in four accumulators that take vectors in turn, so that additions do not wait for each other.
class RowSum {
 public:
  /// `f(sum, column, lanes)` returns sum plus what the columns contribute.
  template <class F>
  float over(std::size_t columns, F f) {
    std::size_t c = 0;
    for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
      unroll<4>([&]<int i>() WEIR_INLINED { sum_[i] = f(sum_[i], c + i * kLanes, kLanes); });
    }
    for (int i = 0; c < columns; c += kLanes, ++i) {
      const std::size_t left = columns - c;
      sum_[i] = f(sum_[i], c, left < kLanes ? static_cast<int>(left) : kLanes);
    }
    return reduce_add(add(add(sum_[0], sum_[1]), add(sum_[2], sum_[3])));
  }

 private:
  F32x16 sum_[4] = {broadcast(0.0f), broadcast(0.0f), broadcast(0.0f), broadcast(0.0f)};
};

}  // namespace
}  // namespace weir::kernels
