// Linear layer in fp32, with everything that follows up to the next layer's input in one pass (matmul.h).
//
//   y[m][n] = sum_k activations[m][k] * weights[n][k] + bias[n]
//
// Shapes: activations [rows][activation_stride >= K]. No alignment is needed. Numeric class: consistent. A sum takes
// the inputs one after the other by fused multiply-adds, so all variants and all splits of rows and channels give the
// same bits.
//
// Packed weights, the layout that every variant reads straight from a mapped file (little endian, 64-byte aligned):
//
//   values[N/16][K][16]     N rounded up to 16, padding zero: values[n/16][k][n%16] = weights[n][k]
//   bias[N]                 N rounded up to 16, padding zero
#pragma once

#include <cstddef>
#include <span>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/scratch.h"

namespace weir::kernels {

/// A view of packed weights; see above for the layout. Does not own.
struct PackedWeightsF32 {
  std::size_t inputs = 0;    ///< K
  std::size_t channels = 0;  ///< N
  const float* values = nullptr;
  const float* bias = nullptr;

  std::size_t padded_inputs() const { return inputs; }
  std::size_t padded_channels() const { return (channels + 15) / 16 * 16; }
  std::size_t panels() const { return padded_channels() / kPanelChannels; }
  /// Elements of one panel.
  std::size_t panel_size() const { return inputs * kPanelChannels; }
};

struct MatmulF32 : MatmulEpilogue {
  using Input = float;
  using Weight = float;

  const float* activations = nullptr;
  std::size_t activation_stride = 0;
  std::size_t rows = 0;
  PackedWeightsF32 weights;
};

using MatmulF32Variant = MatmulVariant<MatmulF32>;

/// All variants of this build, best first.
std::span<const MatmulF32Variant> matmul_f32_variants();

/// The best one that `features` can run.
const MatmulF32Variant& choose_matmul_f32(cpu::Features features);

/// Packs weights as frameworks store them, [channels][inputs]. `bias` may be null (zeros). The destinations have room
/// for the padded sizes: PackedWeightsF32 says them.
void pack_weights_f32(const float* weights, const float* bias, std::size_t inputs, std::size_t channels, float* values,
                      float* packed_bias);

}  // namespace weir::kernels
