// Makes packed weights (matmul_q8.h) from a linear layer's weights as frameworks store them, [channels][inputs].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/matmul_q8/matmul_q8.h"

namespace weir::kernels {

/// Where to put packed weights: the parts of PackedWeightsQ8, writable, each with room for the padded sizes.
struct PackedWeightsQ8Buffers {
  std::int8_t* values = nullptr;
  std::int32_t* correction = nullptr;
  float* scale = nullptr;
  float* sum = nullptr;
  float* bias = nullptr;
};

/// Quantizes to -127..127 with scale = absmax / 127 per channel. `bias` may be null (zeros). A channel with NaN or an
/// infinity gets scale NaN, so that its outputs are NaN; one of zeros gets scale 0.
void pack_weights_q8(const float* weights, const float* bias, std::size_t inputs, std::size_t channels,
                     const PackedWeightsQ8Buffers& out);

/// Packs weights that are 8-bit already, with their scales.
void pack_quantized_weights_q8(const std::int8_t* weights, const float* scale, const float* bias, std::size_t inputs,
                               std::size_t channels, const PackedWeightsQ8Buffers& out);

}  // namespace weir::kernels
