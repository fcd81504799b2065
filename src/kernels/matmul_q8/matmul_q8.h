// Linear layer in 8 bits: unsigned activations with a step and a center per row (quantize_rows.h), signed weights with
// one scale per output channel, 32-bit sums, and everything that follows up to the next layer's input in one pass
// (matmul.h).
//
//   dot[m][n] = sum_k (activations[m][k] - 128) * weights[n][k]                       (exact)
//   y[m][n]   = fma(float(dot) * weight_scale[n], step[m], fma(center[m], weight_sum[n], bias[n]))
//
// Shapes: activations [rows][activation_stride >= padded_columns(K)], the padding columns holding any values. No
// alignment is needed; rows of activations that start on 64 bytes are faster, and so is an activation_stride that is no
// multiple of 512 (AMX reads 16 rows at once, and they must not fall into one cache set). Numeric class: consistent.
// Sums are integers (exact for K <= 65536) and the fp32 steps are the same operations in the same order everywhere, so
// all variants, row and column splits give the same bits.
//
// Packed weights, the layout that every variant reads straight from a mapped file (little endian, 64-byte aligned):
//
//   values[N/16][K'/4][16][4]     N rounded up to 16, K' = K rounded up to 64, padding zero:
//                                 values[n/16][k/4][n%16][k%4] = weights[n][k]
//   correction[N], scale[N], sum[N], bias[N]   N rounded up to 16, padding zero;
//                                 correction[n] = -128 * sum_k weights[n][k], sum[n] = scale[n] * sum_k weights[n][k]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/scratch.h"
#include "kernels/quantize/quantize_rows.h"

namespace weir::kernels {

/// A view of packed weights; see above for the layout. Does not own.
struct PackedWeightsQ8 {
  std::size_t inputs = 0;    ///< K
  std::size_t channels = 0;  ///< N
  const std::int8_t* values = nullptr;
  const std::int32_t* correction = nullptr;
  const float* scale = nullptr;
  const float* sum = nullptr;
  const float* bias = nullptr;

  std::size_t padded_inputs() const { return (inputs + 63) / 64 * 64; }
  std::size_t padded_channels() const { return (channels + 15) / 16 * 16; }
  std::size_t panels() const { return padded_channels() / kPanelChannels; }
  std::size_t panel_bytes() const { return padded_inputs() * kPanelChannels; }
  std::size_t panel_size() const { return panel_bytes(); }
};

struct MatmulQ8 : MatmulEpilogue {
  using Input = std::uint8_t;
  using Weight = std::int8_t;

  const std::uint8_t* activations = nullptr;
  std::size_t activation_stride = 0;
  const RowScale* activation_scale = nullptr;
  std::size_t rows = 0;
  PackedWeightsQ8 weights;
};

using MatmulQ8Variant = MatmulVariant<MatmulQ8>;

/// All variants of this build, best first.
std::span<const MatmulQ8Variant> matmul_q8_variants();

/// The best one that `features` can run.
const MatmulQ8Variant& choose_matmul_q8(cpu::Features features);

/// Floats that a call of `run` needs as scratch.
inline std::size_t matmul_q8_scratch_floats(const MatmulQ8& args) { return matmul_scratch_floats(args); }

}  // namespace weir::kernels
