// Linear layer in bf16: bf16 activations, bf16 weights, fp32 sums, and everything that follows up to the next layer's
// input in one pass (matmul.h).
//
//   y[m][n] = sum_k activations[m][k] * weights[n][k] + bias[n]
//
// Between layers activations are bf16 rows: `out_bf16` of the layer before, or bf16_rows.h where attention or the
// embedding wrote fp32; the residual stays fp32. Shapes: activations [rows][activation_stride >=
// padded_bf16_columns(K)], the padding columns holding finite numbers (zeros are what the kernels write). No alignment
// is needed; rows that start on 64 bytes are faster, and so is an activation_stride that is no multiple of 256 (AMX
// reads 16 rows at once, and they must not fall into one cache set).
//
// Numeric class. All variants but AMX: consistent. A sum adds pair after pair of inputs (2 i + 1 first, then 2 i), each
// by one fused multiply-add: what vdpbf16ps does, and what the others do in fp32. (vdpbf16ps takes subnormal numbers
// for zero; only sums below 1.2e-38 can tell.) amx_bf16: tolerance; it adds even and odd inputs apart within each 32.
// In every variant a row has the same bits in any batch, at any place, for any split of rows and channels.
//
// Packed weights, the layout that every variant reads straight from a mapped file (little endian, 64-byte aligned):
//
//   values[N/16][K'/2][16][2]     N rounded up to 16, K' = K rounded up to 32, padding zero:
//                                 values[n/16][k/2][n%16][k%2] = bf16(weights[n][k])
//   bias[N]                       N rounded up to 16, padding zero
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/bf16/bf16_rows.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/scratch.h"

namespace weir::kernels {

/// A view of packed weights; see above for the layout. Does not own.
struct PackedWeightsBf16 {
  std::size_t inputs = 0;    ///< K
  std::size_t channels = 0;  ///< N
  const std::uint16_t* values = nullptr;
  const float* bias = nullptr;

  std::size_t padded_inputs() const { return padded_bf16_columns(inputs); }
  std::size_t padded_channels() const { return (channels + 15) / 16 * 16; }
  std::size_t panels() const { return padded_channels() / kPanelChannels; }
  /// Elements of one panel.
  std::size_t panel_size() const { return padded_inputs() * kPanelChannels; }
};

struct MatmulBf16 : MatmulEpilogue {
  using Input = std::uint16_t;
  using Weight = std::uint16_t;

  const std::uint16_t* activations = nullptr;
  std::size_t activation_stride = 0;
  std::size_t rows = 0;
  PackedWeightsBf16 weights;
};

using MatmulBf16Variant = MatmulVariant<MatmulBf16>;

/// All variants of this build, best first.
std::span<const MatmulBf16Variant> matmul_bf16_variants();

/// The best one that `features` can run.
const MatmulBf16Variant& choose_matmul_bf16(cpu::Features features);

/// Packs weights as frameworks store them, [channels][inputs], rounding to nearest even. `bias` may be null (zeros).
/// The destinations have room for the padded sizes: PackedWeightsBf16 says them.
void pack_weights_bf16(const float* weights, const float* bias, std::size_t inputs, std::size_t channels,
                       std::uint16_t* values, float* packed_bias);

}  // namespace weir::kernels
