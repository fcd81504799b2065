// Row quantization on F32x16; see quantize_rows.h.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/quantize/quantize_rows.h"
#include "kernels/simd/f32x16.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

/// The least and the greatest value seen in each lane, zero included, as bits. Among integers with sign the greatest
/// number is greatest, among those without sign the least number is; infinities and NaN lie beyond the numbers of their
/// sign, so that these maxima are exact and lose none of them.
struct LaneBounds {
  I32x16 greatest;
  I32x16 least;
};

/// The same of a whole row.
struct RowBounds {
  std::int32_t greatest = 0;
  std::int32_t least = INT32_MIN;
};

inline LaneBounds zero_bounds() { return {broadcast_i32(0), broadcast_i32(INT32_MIN)}; }

WEIR_INLINED inline void include(LaneBounds& bounds, F32x16 x) {
  bounds.greatest = max(bounds.greatest, bits(x));
  bounds.least = max_unsigned(bounds.least, bits(x));
}

inline RowBounds reduce(const LaneBounds& bounds) {
  return {reduce_max(bounds.greatest), reduce_max_unsigned(bounds.least)};
}

inline RowBounds row_bounds(const float* in, std::size_t columns) {
  LaneBounds bounds = zero_bounds();
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) include(bounds, load(in + c));
  if (c < columns) include(bounds, load_first(in + c, static_cast<int>(columns - c)));
  return reduce(bounds);
}

/// byte = round(fma(value, steps_per_unit, offset))
struct RowCode {
  RowScale scale;
  float steps_per_unit = 0.0f;  ///< 0: all bytes are 128
  float offset = 128.0f;
};

inline float float_of(std::int32_t all_bits) {
  float value = 0.0f;
  __builtin_memcpy(&value, &all_bits, sizeof value);
  return value;
}

inline RowCode row_code(RowBounds bounds) {
  constexpr float kLeast = 1e-30f;
  constexpr std::int32_t kInfinityBits = 0x7f800000;
  if (bounds.greatest >= kInfinityBits || (bounds.least & INT32_MAX) >= kInfinityBits) {
    return {{std::numeric_limits<float>::quiet_NaN(), 0.0f}};
  }
  const float upper = float_of(bounds.greatest) * 0.5f;
  const float lower = float_of(bounds.least) * 0.5f;
  const float half = upper - lower;
  if (half < kLeast) return {};
  const float center = upper + lower;
  const float steps_per_unit = 127.0f / half;
  return {{half / 127.0f, center}, steps_per_unit, 128.0f - center * steps_per_unit};
}

inline void fill_zero_points(std::uint8_t* out, std::size_t from, std::size_t to) {
  for (std::size_t c = from; c < to; ++c) out[c] = 128;
}

/// Writes one row whose bounds are known and returns its scale.
inline RowScale quantize_row(const float* in, std::size_t columns, RowBounds bounds, std::uint8_t* out) {
  const RowCode code = row_code(bounds);
  const std::size_t padded = (columns + 63) / 64 * 64;
  if (code.steps_per_unit == 0.0f) {
    fill_zero_points(out, 0, padded);
    return code.scale;
  }
  const F32x16 steps = broadcast(code.steps_per_unit);
  const F32x16 offset = broadcast(code.offset);
  std::size_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
    I32x16 bytes[4];
    unroll<4>([&]<int v>() WEIR_INLINED { bytes[v] = round_to_i32(fma(load(in + c + v * kLanes), steps, offset)); });
    store_four_u8(out + c, bytes);
  }
  for (; c + kLanes <= columns; c += kLanes) store_u8(out + c, round_to_i32(fma(load(in + c), steps, offset)));
  if (c < columns) {
    const int n = static_cast<int>(columns - c);
    store_u8_first(out + c, round_to_i32(fma(load_first(in + c, n), steps, offset)), n);
  }
  fill_zero_points(out, columns, padded);
  return code.scale;
}

inline void quantize_rows_generic(const QuantizeRows& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    args.scale[r] = quantize_row(in, args.columns, row_bounds(in, args.columns), args.out + r * args.out_stride);
  }
}

}  // namespace
}  // namespace weir::kernels
