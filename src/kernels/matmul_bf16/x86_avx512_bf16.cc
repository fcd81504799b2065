// 6 rows x 64 channels in 24 zmm accumulators: per 2 inputs 24 vdpbf16ps on 4 loads of weights and 6 broadcasts.
#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul_bf16/bf16_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTilePanels = 4;
constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = true;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

inline __m512bh broadcast_pair(const std::uint16_t* p) {
  std::int32_t pair = 0;
  __builtin_memcpy(&pair, p, sizeof pair);
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
}

template <int rows, int panels, class End>
WEIR_INLINED inline void multiply_tile(const Tile& tile, End end_with) {
  __m512 sum[rows][panels];
  unroll<rows>([&]<int r>()
                   WEIR_INLINED { unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = _mm512_setzero_ps(); }); });
  const std::uint16_t* a = tile.activations;
  const std::uint16_t* w = tile.weights;
  const std::size_t stride = tile.activation_stride;
  const std::size_t panel_size = tile.panel_size;
  const char* prefetch = tile.prefetch;
  for (const std::uint16_t* end = w + panel_size; w != end; w += 32, a += 2, prefetch += 64) {
    _mm_prefetch(prefetch, _MM_HINT_T1);
    __m512bh weight[panels];
    unroll<panels>(
        [&]<int p>() WEIR_INLINED { weight[p] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + p * panel_size)); });
    unroll<rows>([&]<int r>() WEIR_INLINED {
      const __m512bh pair = broadcast_pair(a + r * stride);
      unroll<panels>([&]<int p>() WEIR_INLINED { sum[r][p] = _mm512_dpbf16_ps(sum[r][p], pair, weight[p]); });
    });
  }
  end_with([&]<int r, int p>() WEIR_INLINED { return F32x16{sum[r][p]}; });
}

template <int rows, int panels>
[[gnu::noinline]] void tile_products_sized(const Tile& tile, float* sums) {
  multiply_tile<rows, panels>(tile, [&](auto sums_of) WEIR_INLINED {
    unroll<rows>([&]<int r>() WEIR_INLINED {
      unroll<panels>([&]<int p>() WEIR_INLINED {
        store(sums + (r * kTilePanels + p) * kLanes, sums_of.template operator()<r, p>());
      });
    });
  });
}

void tile_products(const Tile& tile, float* sums) {
  dispatch_tile<kTileRows, kTilePanels>(tile,
                                        [&]<int rows, int panels>() { tile_products_sized<rows, panels>(tile, sums); });
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_bf16, avx512_bf16)
