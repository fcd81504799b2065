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

/// Normalizes a row in `out` whose mean and variance are known; returns its bounds, as quantize_row takes them.
inline RowBounds scale_row(const LayerNormParameters& parameters, float mean, float variance, float* out,
                           std::size_t columns) {
  const F32x16 center = broadcast(mean);
  const F32x16 inverse = broadcast(1.0f / std::sqrt(variance + parameters.epsilon));
  LaneBounds bounds = zero_bounds();
  for_each_vector(columns, [&](std::size_t c, int lanes) WEIR_INLINED {
    const F32x16 normal = mul(sub(load_lanes(out + c, lanes), center), inverse);
    F32x16 y = fma(normal, load_lanes(parameters.gamma + c, lanes), load_lanes(parameters.beta + c, lanes));
    if (lanes != kLanes) y = keep_first(y, lanes);
    include(bounds, y);
    store_lanes(out + c, y, lanes);
  });
  return reduce(bounds);
}

/// Rows that are finished together, one step for all after the other: what a row's sums and divisions wait for is
/// hidden behind the next rows.
constexpr std::size_t kRowsTogether = 4;

/// Where one row is read and normalized.
struct NormalizedRow {
  const float* in = nullptr;
  const float* residual = nullptr;  ///< null: none
  float* out = nullptr;
};

/// Normalizes up to kRowsTogether rows.
inline void normalize_rows(const NormalizedRow* rows, std::size_t count, const LayerNormParameters& parameters,
                           std::size_t columns, RowBounds* bounds) {
  float mean[kRowsTogether];
  float variances[kRowsTogether];
  for (std::size_t r = 0; r < count; ++r) mean[r] = add_residual(rows[r].in, rows[r].residual, rows[r].out, columns);
  for (std::size_t r = 0; r < count; ++r) variances[r] = variance(rows[r].out, mean[r], columns);
  for (std::size_t r = 0; r < count; ++r) {
    bounds[r] = scale_row(parameters, mean[r], variances[r], rows[r].out, columns);
  }
}

/// Without `out` all rows share the one row of scratch, so they are taken one at a time.
inline void layer_norm_generic(const LayerNorm& args) {
  const std::size_t step = args.out == nullptr ? 1 : kRowsTogether;
  for (std::size_t first = 0; first < args.rows; first += step) {
    const std::size_t count = args.rows - first < step ? args.rows - first : step;
    NormalizedRow rows[kRowsTogether];
    for (std::size_t r = 0; r < count; ++r) {
      rows[r].in = args.in + (first + r) * args.in_stride;
      if (args.residual != nullptr) rows[r].residual = args.residual + (first + r) * args.residual_stride;
      rows[r].out = args.out == nullptr ? args.row_scratch : args.out + (first + r) * args.out_stride;
    }
    RowBounds bounds[kRowsTogether];
    normalize_rows(rows, count, args.parameters, args.columns, bounds);
    if (args.quantized == nullptr) continue;
    for (std::size_t r = 0; r < count; ++r) {
      args.quantized_scale[first + r] =
          quantize_row(rows[r].out, args.columns, bounds[r], args.quantized + (first + r) * args.quantized_stride);
    }
  }
}

}  // namespace
}  // namespace weir::kernels
