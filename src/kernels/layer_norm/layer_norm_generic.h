// Layer normalization on F32x16; see layer_norm.h.
#pragma once

#include <cmath>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/quantize/quantize_generic.h"
#include "kernels/simd/row.h"

namespace weir::kernels {
namespace {

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

/// Normalizes one row in `out`; returns its bounds, as quantize_row takes them.
inline RowBounds normalize_row(const float* in, const float* residual, const LayerNormParameters& parameters,
                               float* out, std::size_t columns) {
  const float mean = add_residual(in, residual, out, columns);
  const float deviation = std::sqrt(variance(out, mean, columns) + parameters.epsilon);
  const F32x16 center = broadcast(mean);
  const F32x16 inverse = broadcast(1.0f / deviation);
  LaneBounds bounds = zero_bounds();
  for_each_vector(columns, [&](std::size_t c, int lanes) {
    const F32x16 normal = mul(sub(load_lanes(out + c, lanes), center), inverse);
    F32x16 y = fma(normal, load_lanes(parameters.gamma + c, lanes), load_lanes(parameters.beta + c, lanes));
    if (lanes != kLanes) y = keep_first(y, lanes);
    include(bounds, y);
    store_lanes(out + c, y, lanes);
  });
  return reduce(bounds);
}

inline void layer_norm_generic(const LayerNorm& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    const float* residual = args.residual == nullptr ? nullptr : args.residual + r * args.residual_stride;
    float* out = args.out == nullptr ? args.row_scratch : args.out + r * args.out_stride;
    const RowBounds bounds = normalize_row(args.in + r * args.in_stride, residual, args.parameters, out, args.columns);
    if (args.quantized == nullptr) continue;
    args.quantized_scale[r] = quantize_row(out, args.columns, bounds, args.quantized + r * args.quantized_stride);
  }
}

}  // namespace
}  // namespace weir::kernels
