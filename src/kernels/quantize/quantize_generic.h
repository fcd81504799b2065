// Row quantization on F32x16; see quantize_rows.h.
#pragma once

#include <limits>

#include "kernels/quantize/quantize_rows.h"
#include "kernels/simd/f32x16.h"

namespace weir::kernels {
namespace {

/// Bits of |x|: as integers they are ordered like the magnitudes, infinity and NaN above all numbers, so that a
/// maximum over them is exact and no NaN is lost.
inline I32x16 magnitude_bits(F32x16 x) { return bits(absolute(x)); }

inline I32x16 row_magnitude_bits(const float* in, std::size_t columns) {
  I32x16 peak = broadcast_i32(0);
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) peak = max(peak, magnitude_bits(load(in + c)));
  if (c < columns) peak = max(peak, magnitude_bits(load_first(in + c, static_cast<int>(columns - c))));
  return peak;
}

struct RowScale {
  float scale;    ///< what a step of the quantized value is worth
  float inverse;  ///< steps per unit; 0 for rows that are all 128
};

inline RowScale row_scale(std::int32_t peak_bits) {
  constexpr float kLeast = 1e-30f;
  constexpr std::int32_t kInfinityBits = 0x7f800000;
  if (peak_bits >= kInfinityBits) return {std::numeric_limits<float>::quiet_NaN(), 0.0f};
  float peak = 0.0f;
  __builtin_memcpy(&peak, &peak_bits, sizeof peak);
  if (peak < kLeast) return {0.0f, 0.0f};
  return {peak / 127.0f, 127.0f / peak};
}

inline I32x16 quantize(F32x16 x, F32x16 inverse) { return add(round_to_i32(mul(x, inverse)), broadcast_i32(128)); }

inline void fill_zero_points(std::uint8_t* out, std::size_t from, std::size_t to) {
  for (std::size_t c = from; c < to; ++c) out[c] = 128;
}

/// Writes one row whose largest magnitude is known and returns its scale.
inline float quantize_row(const float* in, std::size_t columns, std::int32_t peak_bits, std::uint8_t* out) {
  const RowScale s = row_scale(peak_bits);
  const std::size_t padded = (columns + 63) / 64 * 64;
  if (s.inverse == 0.0f) {
    fill_zero_points(out, 0, padded);
    return s.scale;
  }
  const F32x16 inverse = broadcast(s.inverse);
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) store_u8(out + c, quantize(load(in + c), inverse));
  if (c < columns) {
    const int n = static_cast<int>(columns - c);
    store_u8_first(out + c, quantize(load_first(in + c, n), inverse), n);
  }
  fill_zero_points(out, columns, padded);
  return s.scale;
}

inline void quantize_rows_generic(const QuantizeRows& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    const std::int32_t peak = reduce_max(row_magnitude_bits(in, args.columns));
    args.scale[r] = quantize_row(in, args.columns, peak, args.out + r * args.out_stride);
  }
}

}  // namespace
}  // namespace weir::kernels
