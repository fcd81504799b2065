// The micro-kernel on F32x16: kTileRows x kTilePanels sums, per input a load for each panel and a broadcast for each
// row. Include it after these two constants.
#pragma once

#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul_f32/f32_numbers.h"

namespace weir::kernels {
namespace {

constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = false;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

template <int rows, int panels>
[[gnu::noinline]] void tile_products_sized(const Tile& tile, float* sums) {
  F32x16 sum[rows][panels];
  unroll<rows>([&]<int r>()
                   WEIR_INLINED { unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = broadcast(0.0f); }); });
  const float* a = tile.activations;
  const float* w = tile.weights;
  const std::size_t stride = tile.activation_stride;
  const std::size_t panel_size = tile.panel_size;
  const char* prefetch = tile.prefetch;
  for (const float* end = w + panel_size; w != end; w += kLanes, ++a, prefetch += sizeof(F32x16)) {
    __builtin_prefetch(prefetch, 0, 2);
    F32x16 weight[panels];
    unroll<panels>([&]<int p>() WEIR_INLINED { weight[p] = load(w + p * panel_size); });
    unroll<rows>([&]<int r>() WEIR_INLINED {
      const F32x16 x = broadcast(a[r * stride]);
      unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = fma(x, weight[p], sum[r][p]); });
    });
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
