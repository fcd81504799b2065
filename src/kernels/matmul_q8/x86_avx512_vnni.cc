// 6 rows x 64 channels in 24 zmm accumulators: per 4 inputs 24 vpdpbusd on 4 loads of weights and 6 broadcasts.
#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul_q8/q8_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTilePanels = 4;
constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = true;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

inline __m512i broadcast_group(const std::uint8_t* p) {
  std::int32_t group = 0;
  __builtin_memcpy(&group, p, sizeof group);
  return _mm512_set1_epi32(group);
}

template <int rows, int panels, class End>
WEIR_INLINED inline void multiply_tile(const Tile& tile, End end_with) {
  __m512i sum[rows][panels];
  unroll<rows>([&]<int r>() WEIR_INLINED {
    unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = _mm512_loadu_si512(tile.correction + p * kLanes); });
  });
  const std::uint8_t* a = tile.activations;
  const std::int8_t* w = tile.weights;
  const std::size_t stride = tile.activation_stride;
  const std::size_t panel_bytes = tile.panel_size;
  const char* prefetch = tile.prefetch;
  for (const std::int8_t* end = w + panel_bytes; w != end; w += 64, a += 4, prefetch += 64) {
    _mm_prefetch(prefetch, _MM_HINT_T1);
    __m512i weight[panels];
    unroll<panels>([&]<int p>() WEIR_INLINED { weight[p] = _mm512_loadu_si512(w + p * panel_bytes); });
    unroll<rows>([&]<int r>() WEIR_INLINED {
      const __m512i group = broadcast_group(a + r * stride);
      unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], group, weight[p]); });
    });
  }
  end_with([&]<int r, int p>() WEIR_INLINED { return I32x16{sum[r][p]}; });
}

template <int rows, int panels>
[[gnu::noinline]] void tile_products_sized(const Tile& tile, std::int32_t* sums) {
  multiply_tile<rows, panels>(tile, [&](auto sums_of) WEIR_INLINED {
    unroll<rows>([&]<int r>() WEIR_INLINED {
      unroll<panels>([&]<int p>() WEIR_INLINED {
        store_i32(sums + (r * kTilePanels + p) * kLanes, sums_of.template operator()<r, p>());
      });
    });
  });
}

void tile_products(const Tile& tile, std::int32_t* sums) {
  dispatch_tile<kTileRows, kTilePanels>(tile,
                                        [&]<int rows, int panels>() { tile_products_sized<rows, panels>(tile, sums); });
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_q8, avx512_vnni)
