// The micro-kernel for CPUs without bf16 multiplication, on F32x16: a bf16 is the upper half of a float, so pairs are
// split by a mask and a shift and multiplied in fp32, in the order of vdpbf16ps. Include it after kTileRows and
// kTilePanels.
#pragma once

#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul_bf16/bf16_numbers.h"

namespace weir::kernels {
namespace {

constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = false;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

/// The second number of each pair, and the first.
WEIR_INLINED inline F32x16 second_of(I32x16 pairs) {
  return from_bits(bit_and(pairs, broadcast_i32(static_cast<std::int32_t>(0xffff0000))));
}
WEIR_INLINED inline F32x16 first_of(I32x16 pairs) { return from_bits(shift_left<16>(pairs)); }

WEIR_INLINED inline I32x16 broadcast_pair(const std::uint16_t* p) {
  std::int32_t pair = 0;
  __builtin_memcpy(&pair, p, sizeof pair);
  return broadcast_i32(pair);
}

template <int rows, int panels>
[[gnu::noinline]] void tile_products_sized(const Tile& tile, float* sums) {
  F32x16 sum[rows][panels];
  unroll<rows>([&]<int r>()
                   WEIR_INLINED { unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = broadcast(0.0f); }); });
  const std::uint16_t* a = tile.activations;
  const std::uint16_t* w = tile.weights;
  const std::size_t stride = tile.activation_stride;
  const std::size_t panel_size = tile.panel_size;
  const auto multiply = [&](auto half_of) WEIR_INLINED {
    F32x16 weight[panels];
    unroll<panels>([&]<int p>() WEIR_INLINED { weight[p] = half_of(load_pairs(w + p * panel_size)); });
    unroll<rows>([&]<int r>() WEIR_INLINED {
      const F32x16 x = half_of(broadcast_pair(a + r * stride));
      unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = fma(x, weight[p], sum[r][p]); });
    });
  };
  const char* prefetch = tile.prefetch;
  for (const std::uint16_t* end = w + panel_size; w != end; w += 2 * kLanes, a += 2, prefetch += sizeof(F32x16)) {
    __builtin_prefetch(prefetch, 0, 2);
    multiply([](I32x16 pairs) WEIR_INLINED { return second_of(pairs); });
    multiply([](I32x16 pairs) WEIR_INLINED { return first_of(pairs); });
  }
  unroll<rows>([&]<int r>() WEIR_INLINED {
    unroll<panels>([&]<int p>() WEIR_INLINED { store(sums + (r * kTilePanels + p) * kLanes, sum[r][p]); });
  });
}

void tile_products(const Tile& tile, float* sums) {
  dispatch_tile<kTileRows, kTilePanels>(tile,
                                        [&]<int rows, int panels>() { tile_products_sized<rows, panels>(tile, sums); });
}

}  // namespace
}  // namespace weir::kernels

// The layer around it.
#include "kernels/matmul/matmul_generic.h"
