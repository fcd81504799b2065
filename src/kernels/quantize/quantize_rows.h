// fp32 rows to unsigned 8-bit rows, each with a scale of its own ("per token, dynamic") from its least to its greatest
// value, zero included:
//
//   half = greatest / 2 - least / 2,  center[r] = greatest / 2 + least / 2,  step[r] = half / 127
//   out[r][c] = round(fma(in[r][c], 127 / half, 128 - center * (127 / half))), ties to even
//
// so that in ~ center + (out - 128) * step. The outliers of transformers have one sign: symmetric scales would spend
// half of the steps on values that do not occur. A row of zeros, or with half < 1e-30, gets step and center 0 and
// values 128. A row holding NaN or an infinity gets step NaN and values 128: whatever is computed from it is NaN and so
// is noticed.
//
// Shapes: in [rows][in_stride >= columns], out [rows][out_stride >= padded_columns(columns)]; the columns from
// `columns` to padded_columns(columns) are written as 128. No alignment is needed. in and out
// must not overlap. Numeric class: exact, the same bytes and scales in every variant. Threads: any number, on disjoint
// rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace weir::kernels {

/// The least stride of a quantized row: columns rounded up to the 64 that an AMX tile takes at once.
constexpr std::size_t padded_columns(std::size_t columns) { return (columns + 63) / 64 * 64; }

/// What a row's bytes stand for: center + (byte - 128) * step.
struct RowScale {
  float step = 0.0f;
  float center = 0.0f;
};

struct QuantizeRows {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::uint8_t* out = nullptr;
  std::size_t out_stride = 0;
  RowScale* scale = nullptr;
};

struct QuantizeRowsVariant {
  const char* name;
  cpu::Features required;
  void (*run)(const QuantizeRows&);
};

/// All variants of this build, best first.
std::span<const QuantizeRowsVariant> quantize_rows_variants();

/// The best one that `features` can run.
const QuantizeRowsVariant& choose_quantize_rows(cpu::Features features);

}  // namespace weir::kernels
