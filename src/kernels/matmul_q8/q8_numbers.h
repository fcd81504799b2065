// What matmul/matmul_generic.h must know of 8-bit layers. Internal linkage: each ISA file includes it.
#pragma once

#include "kernels/matmul/tile.h"
#include "kernels/matmul_q8/matmul_q8.h"
#include "kernels/simd/f32x16.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

using MatmulArgs = MatmulQ8;
using MatmulSum = std::int32_t;
using Tile = MatmulTile<MatmulQ8>;

/// The result is quantized next, or comes from numbers that were.
constexpr bool kGeluIsCoarse = true;

inline const std::int32_t* correction_of(const MatmulQ8& args, std::size_t channel) {
  return args.weights.correction + channel;
}

WEIR_INLINED inline I32x16 load_sums(const std::int32_t* sums) { return load_i32(sums); }

/// What the results of sixteen channels need of the weights.
struct ChannelNumbers {
  F32x16 scale;
  F32x16 sum;
  F32x16 bias;
};

WEIR_INLINED inline ChannelNumbers channel_numbers(const MatmulQ8& args, std::size_t channel) {
  return {load(args.weights.scale + channel), load(args.weights.sum + channel), load(args.weights.bias + channel)};
}

WEIR_INLINED inline F32x16 linear_value(const MatmulQ8& args, I32x16 sums, std::size_t row,
                                        const ChannelNumbers& channels) {
  const RowScale& scale = args.activation_scale[row];
  const F32x16 centered = fma(broadcast(scale.center), channels.sum, channels.bias);
  return fma(mul(to_f32(sums), channels.scale), broadcast(scale.step), centered);
}

}  // namespace
}  // namespace weir::kernels
