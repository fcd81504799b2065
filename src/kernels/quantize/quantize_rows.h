// fp32 rows to unsigned 8-bit rows with one symmetric scale per row ("per token, dynamic").
//
//   scale[r] = absmax(row r) / 127,   out[r][c] = 128 + round(in[r][c] * (127 / absmax)), ties to even
//
// so that in ~ (out - 128) * scale. A row of zeros, or with absmax < 1e-30, gets scale 0 and values 128. A row holding
// NaN or an infinity gets scale NaN and values 128: whatever is computed from it is NaN and so is noticed.
//
// Shapes: in [rows][in_stride >= columns], out [rows][out_stride >= padded_columns(columns)]; the columns from
// `columns` to padded_columns(columns) are written as 128, which stands for zero. No alignment is needed. in and out
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

struct QuantizeRows {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::uint8_t* out = nullptr;
  std::size_t out_stride = 0;
  float* scale = nullptr;
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
