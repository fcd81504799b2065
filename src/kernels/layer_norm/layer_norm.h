// Layer normalization of rows, with an optional residual added first.
//
//   x = in + residual,   out = (x - mean(x)) / sqrt(variance(x) + epsilon) * gamma + beta
//
// Shapes: in, residual, out [rows][stride >= columns]; gamma, beta [columns]. `out` may be `in` or `residual` itself,
// or must not overlap them. With `quantized`, each row of the result is also written as quantize_rows.h says (out may
// then be null where only the 8-bit rows are wanted; the kernel keeps the row in `row_scratch`, [columns rounded up to
// 16]). Numeric class: consistent, the same bits in every variant and batch split: sums run in sixteen lanes added in
// one fixed tree, the variance is computed from the differences to the mean. Threads: any number, on disjoint rows with
// a row_scratch each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/quantize/quantize_rows.h"

namespace weir::kernels {

struct LayerNormParameters {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float epsilon = 1e-12f;
};

struct LayerNorm {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  const float* residual = nullptr;  ///< null: none
  std::size_t residual_stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  LayerNormParameters parameters;
  float* out = nullptr;  ///< null: only the 8-bit rows
  std::size_t out_stride = 0;
  std::uint8_t* quantized = nullptr;  ///< null: none
  std::size_t quantized_stride = 0;
  RowScale* quantized_scale = nullptr;
  float* row_scratch = nullptr;
};

struct LayerNormVariant {
  const char* name;
  cpu::Features required;
  void (*run)(const LayerNorm&);
};

/// All variants of this build, best first.
std::span<const LayerNormVariant> layer_norm_variants();

/// The best one that `features` can run.
const LayerNormVariant& choose_layer_norm(cpu::Features features);

}  // namespace weir::kernels
