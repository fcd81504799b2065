// Linear layer in 8 bits: unsigned activations with one scale per row (quantize_rows.h), signed weights with one scale
// per output channel, 32-bit sums, and everything that follows up to the next layer's 8-bit input in one pass.
//
//   dot[m][n] = sum_k (activations[m][k] - 128) * weights[n][k]                       (exact)
//   y[m][n]   = fma(float(dot) * weight_scale[n], activation_scale[m], bias[n])
//   y         = activation(y)                                 (GELU is gelu_erf_coarse of simd/activation_math.h)
//   y         = y + residual                                  if residual is given
//   y         = layer_norm(y)                                 if layer_norm is given
//   out = y, and/or quantized = quantize_rows(y)
//
// Shapes: activations [rows][activation_stride >= padded_columns(K)], the padding columns holding any values;
// out, residual [rows][stride >= N]; quantized [rows][quantized_stride >= padded_columns(N)].
// Aliasing: `out` may be `residual`; nothing else may overlap. Alignment: none is needed; rows of activations that
// start on 64 bytes are faster, and so is an activation_stride that is no multiple of 512 (AMX reads 16 rows at once,
// and they must not fall into one cache set). Numeric class: consistent. Sums are integers (exact for K <= 65536) and
// the fp32 steps are the same operations in the same order everywhere, so all variants, row and column splits give the
// same bits.
//
// Packed weights, the layout that every variant reads straight from a mapped file (little endian, 64-byte aligned):
//
//   values[N/16][K'/4][16][4]     N rounded up to 16, K' = K rounded up to 64, padding zero:
//                                 values[n/16][k/4][n%16][k%4] = weights[n][k]
//   correction[N], scale[N], bias[N]   N rounded up to 16, padding zero; correction[n] = -128 * sum_k weights[n][k]
//
// 64 consecutive bytes are the operand of one vpdpbusd (16 channels x 4 inputs), 1024 consecutive bytes are one AMX B
// tile (16 rows of 64 bytes: 64 inputs x 16 channels). A "panel" is the 16 channels of one first index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/layer_norm/layer_norm.h"

namespace weir::kernels {

constexpr std::size_t kPanelChannels = 16;

/// A view of packed weights; see above for the layout. Does not own.
struct PackedWeightsQ8 {
  std::size_t inputs = 0;    ///< K
  std::size_t channels = 0;  ///< N
  const std::int8_t* values = nullptr;
  const std::int32_t* correction = nullptr;
  const float* scale = nullptr;
  const float* bias = nullptr;

  std::size_t padded_inputs() const { return (inputs + 63) / 64 * 64; }
  std::size_t padded_channels() const { return (channels + 15) / 16 * 16; }
  std::size_t panels() const { return padded_channels() / kPanelChannels; }
  std::size_t panel_bytes() const { return padded_inputs() * kPanelChannels; }
};

enum class Activation : std::uint8_t { kNone, kGeluErf, kGeluTanh, kSilu, kRelu };

struct MatmulQ8 {
  const std::uint8_t* activations = nullptr;
  std::size_t activation_stride = 0;
  const float* activation_scale = nullptr;
  std::size_t rows = 0;
  PackedWeightsQ8 weights;
  Activation activation = Activation::kNone;
  const float* residual = nullptr;  ///< null: none
  std::size_t residual_stride = 0;
  const LayerNormParameters* layer_norm = nullptr;  ///< null: none
  float* out = nullptr;                             ///< null: only the 8-bit rows are wanted
  std::size_t out_stride = 0;
  std::uint8_t* quantized = nullptr;  ///< null: only the fp32 rows are wanted
  std::size_t quantized_stride = 0;
  float* quantized_scale = nullptr;
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

struct MatmulQ8Variant {
  const char* name;
  cpu::Features required;
  /// The whole of it for some rows, in blocks whose intermediate values stay in L2. `scratch` holds
  /// matmul_q8_scratch_floats(args) floats and belongs to this call alone.
  void (*run)(const MatmulQ8& args, IndexRange rows, float* scratch);
  /// Only dot products, dequantization, bias and activation, of some rows and some panels of channels.
  void (*products)(const MatmulQ8& args, IndexRange rows, IndexRange panels, UnfinishedRows out);
  /// The steps that need whole rows (residual, layer norm, quantization), after `products` of all panels.
  void (*finish)(const MatmulQ8& args, IndexRange rows, UnfinishedRows in);
};

/// All variants of this build, best first.
std::span<const MatmulQ8Variant> matmul_q8_variants();

/// The best one that `features` can run.
const MatmulQ8Variant& choose_matmul_q8(cpu::Features features);

/// Floats that a call of `run` needs as scratch.
std::size_t matmul_q8_scratch_floats(const MatmulQ8& args);

}  // namespace weir::kernels
