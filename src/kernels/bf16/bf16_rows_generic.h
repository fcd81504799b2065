// bf16 rows on F32x16; see bf16_rows.h.
#pragma once

#include "kernels/bf16/bf16_rows.h"
#include "kernels/simd/row.h"

namespace weir::kernels {
namespace {

/// The bf16 nearest to each lane, in the low half. A signalling NaN must have been made quiet, as any arithmetic does.
inline I32x16 to_bf16(F32x16 x) {
  // Magnitudes are ordered as integers; the largest that is let through is a quiet NaN that rounding cannot overflow.
  // With sign only positive numbers are that large, without sign only negative ones.
  constexpr std::int32_t kQuietNan = 0x7fc00000;
  const I32x16 all = min_unsigned(min(bits(x), broadcast_i32(kQuietNan)), broadcast_i32(kQuietNan | INT32_MIN));
  const I32x16 odd = bit_and(shift_right<16>(all), broadcast_i32(1));
  return shift_right<16>(add(add(all, broadcast_i32(0x7fff)), odd));
}

inline void pad_bf16_row(std::uint16_t* row, std::size_t columns) {
  for (std::size_t c = columns; c < padded_bf16_columns(columns); ++c) row[c] = 0;
}

/// One row and its padding.
inline void bf16_row(const float* in, std::size_t columns, std::uint16_t* out) {
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) store_u16(out + c, to_bf16(load(in + c)));
  if (c < columns) {
    const int n = static_cast<int>(columns - c);
    store_u16_first(out + c, to_bf16(load_first(in + c, n)), n);
  }
  pad_bf16_row(out, columns);
}

inline void bf16_rows_generic(const Bf16Rows& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    bf16_row(args.in + r * args.in_stride, args.columns, args.out + r * args.out_stride);
  }
}

}  // namespace
}  // namespace weir::kernels
