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

WEIR_INLINED inline F32x16 linear_value(const MatmulArgs& args, const float* sums, std::size_t, std::size_t channel) {
  return add(load(sums), load(args.weights.bias + channel));
}

}  // namespace
}  // namespace weir::kernels
