// Layer normalization on F32x16; see layer_norm.h.
#pragma once

#include <cmath>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/quantize/quantize_generic.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

/// Calls f(column, lanes, vector_load, vector_store) for each sixteen columns; the last may have fewer lanes.
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

/// out = x = in + residual; returns the mean of x. `residual` may be null.
inline float add_residual(const float* in, const float* residual, float* out, std::size_t columns) {
  const float sum = RowSum().over(columns, [&](F32x16 partial, std::size_t c, int lanes) WEIR_INLINED {
    F32x16 x = load_lanes(in + c, lanes);
    if (residual != nullptr) x = add(x, load_lanes(residual + c, lanes));
    store_lanes(out + c, x, lanes);
    return add(partial, x);
  });
  return sum / static_cast<float>(columns);
}

inline float variance(const float* x, float mean, std::size_t columns) {
  const F32x16 center = broadcast(mean);
  const float sum = RowSum().over(columns, [&](F32x16 partial, std::size_t c, int lanes) WEIR_INLINED {
    F32x16 difference = sub(load_lanes(x + c, lanes), center);
    if (lanes != kLanes) difference = keep_first(difference, lanes);
    return fma(difference, difference, partial);
  });
  return sum / static_cast<float>(columns);
}

/// Normalizes one row in `out`; returns the bits of its largest magnitude, as quantize_row takes them.
inline std::int32_t normalize_row(const float* in, const float* residual, const LayerNormParameters& parameters,
                                  float* out, std::size_t columns) {
  const float mean = add_residual(in, residual, out, columns);
  const float deviation = std::sqrt(variance(out, mean, columns) + parameters.epsilon);
  const F32x16 center = broadcast(mean);
  const F32x16 inverse = broadcast(1.0f / deviation);
  I32x16 peak = broadcast_i32(0);
  for_each_vector(columns, [&](std::size_t c, int lanes) {
    const F32x16 normal = mul(sub(load_lanes(out + c, lanes), center), inverse);
    F32x16 y = fma(normal, load_lanes(parameters.gamma + c, lanes), load_lanes(parameters.beta + c, lanes));
    if (lanes != kLanes) y = keep_first(y, lanes);
    peak = max(peak, magnitude_bits(y));
    store_lanes(out + c, y, lanes);
  });
  return reduce_max(peak);
}

inline void layer_norm_generic(const LayerNorm& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    const float* residual = args.residual == nullptr ? nullptr : args.residual + r * args.residual_stride;
    float* out = args.out == nullptr ? args.row_scratch : args.out + r * args.out_stride;
    const std::int32_t peak = normalize_row(args.in + r * args.in_stride, residual, args.parameters, out, args.columns);
    if (args.quantized == nullptr) continue;
    args.quantized_scale[r] = quantize_row(out, args.columns, peak, args.quantized + r * args.quantized_stride);
  }
}

}  // namespace
}  // namespace weir::kernels
