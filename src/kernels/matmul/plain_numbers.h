// What matmul_generic.h must know of layers whose sums are fp32 already. Internal linkage: ISA files include it, after
//
//   using MatmulArgs;    the family's arguments
#pragma once

#include "kernels/matmul/tile.h"
#include "kernels/simd/f32x16.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

using MatmulSum = float;
using Tile = MatmulTile<MatmulArgs>;

constexpr bool kGeluIsCoarse = false;

inline const std::int32_t* correction_of(const MatmulArgs&, std::size_t) { return nullptr; }

WEIR_INLINED inline F32x16 load_sums(const float* sums) { return load(sums); }

/// The biases of sixteen channels.
using ChannelNumbers = F32x16;

WEIR_INLINED inline ChannelNumbers channel_numbers(const MatmulArgs& args, std::size_t channel) {
  return load(args.weights.bias + channel);
}

WEIR_INLINED inline F32x16 linear_value(const MatmulArgs&, F32x16 sums, std::size_t, const ChannelNumbers& channels) {
  return add(sums, channels);
}

}  // namespace
}  // namespace weir::kernels
