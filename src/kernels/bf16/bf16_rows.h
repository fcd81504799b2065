// fp32 rows to bf16 rows, rounded to nearest, ties to even: the input of matmul_bf16.
//
// NaN becomes the quiet NaN 0x7fc0 with its sign (a signalling one, which no arithmetic returns, perhaps infinity);
// numbers beyond the largest bf16 become infinity; subnormal numbers are rounded like all others. Shapes: in
// [rows][in_stride >= columns], out [rows][out_stride >= padded_bf16_columns(columns)]; the columns from `columns` to
// padded_bf16_columns(columns) are written as zero. No alignment is needed. in and out must not overlap. Numeric class:
// exact, the same bits in every variant. Threads: any number, on disjoint rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace weir::kernels {

/// The least stride of a bf16 row: columns rounded up to the 32 that an AMX tile takes at once.
constexpr std::size_t padded_bf16_columns(std::size_t columns) { return (columns + 31) / 32 * 32; }

struct Bf16Rows {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::uint16_t* out = nullptr;
  std::size_t out_stride = 0;
};

struct Bf16RowsVariant {
  const char* name;
  cpu::Features required;
  void (*run)(const Bf16Rows&);
};

/// All variants of this build, best first.
std::span<const Bf16RowsVariant> bf16_rows_variants();

/// The best one that `features` can run.
const Bf16RowsVariant& choose_bf16_rows(cpu::Features features);

}  // namespace weir::kernels
