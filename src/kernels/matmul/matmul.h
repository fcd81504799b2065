// What the linear layers share, whatever the numbers they multiply (matmul_q8, matmul_bf16, matmul_f32): everything
// that follows the product up to the next layer's input, the division of rows and channels, the form of a variant.
//
//   y   = product, scaled, plus bias                         (each family's header)
//   y   = activation(y)                                      or, gated: activation(y[0 .. N/2)) * y[N/2 .. N)
//   y   = y + residual                                       if residual is given
//   y   = layer_norm(y)                                      if layer_norm is given
//   out = y, out_bf16 = bf16(y), quantized = quantize_rows(y)    whichever are given
//
// Gated, there are N/2 results, and neither residual nor layer norm; N is even. Shapes, N being the number of results:
// out, residual [rows][stride >= N]; out_bf16 [rows][stride >= N rounded up to 32], as matmul_bf16 takes it,
// the columns from N on written as zero; quantized [rows][stride >= padded_columns(N)], as matmul_q8 takes it. Strides
// count elements. Aliasing: `out` may be `residual`; nothing else may overlap. At least one of the three results is
// wanted.
//
// Weights lie in panels: the 16 channels of one index n/16, K one after the other, K and N padded with zeros. 64
// consecutive bytes are one vector register's operand of 16 channels, 1024 consecutive bytes one AMX tile.
//
// Owner: nobody, all are views of the caller's memory. Threads: any number on disjoint rows, each with its own scratch.
// Failures: none; sizes are the caller's promise. GELU is gelu_erf_coarse of simd/activation_math.h in matmul_q8, where
// quantization follows or preceded, gelu_erf in the others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/isa.h"

namespace weir::kernels {

struct LayerNormParameters;  // layer_norm/layer_norm.h
struct RowScale;             // quantize/quantize_rows.h

constexpr std::size_t kPanelChannels = 16;

enum class Activation : std::uint8_t { kNone, kGeluErf, kGeluTanh, kSilu, kRelu, kTanh };

struct MatmulEpilogue {
  Activation activation = Activation::kNone;
  bool gated = false;               ///< The first half of the channels opens the second.
  const float* residual = nullptr;  ///< null: none
  std::size_t residual_stride = 0;
  const LayerNormParameters* layer_norm = nullptr;  ///< null: none
  float* out = nullptr;                             ///< null: not wanted
  std::size_t out_stride = 0;
  std::uint16_t* out_bf16 = nullptr;  ///< null: not wanted
  std::size_t out_bf16_stride = 0;
  std::uint8_t* quantized = nullptr;  ///< null: not wanted
  std::size_t quantized_stride = 0;
  RowScale* quantized_scale = nullptr;
};

struct IndexRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// fp32 rows that products have been written to and that are still to be finished.
struct UnfinishedRows {
  float* values = nullptr;  ///< row `range.begin` comes first
  std::size_t stride = 0;
};

/// Whether bf16 rows are all that is wanted of the products: they need not be written in fp32 first.
inline bool bf16_products_are_the_result(const MatmulEpilogue& epilogue) {
  return epilogue.out_bf16 != nullptr && !epilogue.gated && epilogue.out == nullptr && epilogue.quantized == nullptr &&
         epilogue.residual == nullptr && epilogue.layer_norm == nullptr;
}

/// Whether the products can be written where the result belongs: then `finish` has nothing to add. A residual may be
/// that very place, so not then.
inline bool products_are_the_result(const MatmulEpilogue& epilogue) {
  return epilogue.out != nullptr && !epilogue.gated && epilogue.residual == nullptr && epilogue.layer_norm == nullptr;
}

/// One implementation of the family whose arguments are `Args`.
template <class Args>
struct MatmulVariant {
  const char* name;
  cpu::Features required;
  /// The whole of it for some rows, in blocks whose intermediate values stay in L2. `scratch` holds
  /// matmul_scratch_floats(args) floats and belongs to this call alone.
  void (*run)(const Args& args, IndexRange rows, float* scratch);
  /// Only products, bias and, where nothing is gated, activation, of some rows and some panels of channels.
  void (*products)(const Args& args, IndexRange rows, IndexRange panels, UnfinishedRows out);
  /// The steps that need whole rows (gate, residual, layer norm, the narrow results), after `products` of all panels.
  void (*finish)(const Args& args, IndexRange rows, UnfinishedRows in);
};

}  // namespace weir::kernels
