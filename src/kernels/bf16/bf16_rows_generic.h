// bf16 rows on F32x16; see bf16_rows.h.
#pragma once

#include "kernels/bf16/bf16_rows.h"
#include "kernels/simd/row.h"

namespace weir::kernels {
namespace {

/// The bf16 nearest to each lane, in the low half. A signalling NaN must have been made quiet, as any arithmetic does.
inline I32x16 to_bf16(F32x16 x) {
  const I32x16 all = bits(x);
  const I32x16 sign = shift_left<15>(shift_right<31>(all));
  // Magnitudes are ordered as integers; the largest that is let through is a quiet NaN that rounding cannot overflow.
  const I32x16 magnitude = min(bits(absolute(x)), broadcast_i32(0x7fc00000));
  const I32x16 odd = bit_and(shift_right<16>(magnitude), broadcast_i32(1));
  const I32x16 rounded = shift_right<16>(add(add(magnitude, broadcast_i32(0x7fff)), odd));
  return bit_or(sign, rounded);
}

/// One row and its padding.
inline void bf16_row(const float* in, std::size_t columns, std::uint16_t* out) {
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) store_u16(out + c, to_bf16(load(in + c)));
  if (c < columns) {
    const int n = static_cast<int>(columns - c);
    store_u16_first(out + c, to_bf16(load_first(in + c, n)), n);
  }
  for (c = columns; c < padded_bf16_columns(columns); ++c) out[c] = 0;
}

inline void bf16_rows_generic(const Bf16Rows& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    bf16_row(args.in + r * args.in_stride, args.columns, args.out + r * args.out_stride);
  }
}

}  // namespace
}  // namespace weir::kernels
