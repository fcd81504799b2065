// 6 rows x 64 channels in 24 zmm accumulators: per 4 inputs 24 vpdpbusd on 4 loads of weights and 6 broadcasts.
#include "kernels/matmul_q8/dispatch_tile.h"
#include "kernels/matmul_q8/tile.h"
#include "kernels/simd/f32x16.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTilePanels = 4;
constexpr bool kTilesAreConfigured = false;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

inline __m512i broadcast_group(const std::uint8_t* p) {
  std::int32_t group = 0;
  __builtin_memcpy(&group, p, sizeof group);
  return _mm512_set1_epi32(group);
}

template <int rows, int panels>
inline void tile_products_sized(const Tile& tile, std::int32_t* sums) {
  __m512i sum[rows][panels];
  for (int r = 0; r < rows; ++r) {
    for (int p = 0; p < panels; ++p) sum[r][p] = _mm512_loadu_si512(tile.correction + p * kLanes);
  }
  const std::uint8_t* a = tile.activations;
  const std::int8_t* w = tile.weights;
  for (const std::int8_t* end = w + tile.panel_bytes; w != end; w += 64, a += 4) {
    __m512i weight[panels];
    for (int p = 0; p < panels; ++p) {
      weight[p] = _mm512_loadu_si512(w + static_cast<std::size_t>(p) * tile.panel_bytes);
    }
    for (int r = 0; r < rows; ++r) {
      const __m512i group = broadcast_group(a + static_cast<std::size_t>(r) * tile.activation_stride);
      for (int p = 0; p < panels; ++p) sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], group, weight[p]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int p = 0; p < panels; ++p) _mm512_store_si512(sums + (r * kTilePanels + p) * kLanes, sum[r][p]);
  }
}

void tile_products(const Tile& tile, std::int32_t* sums) {
  dispatch_tile<kTileRows, kTilePanels>(tile,
                                        [&]<int rows, int panels>() { tile_products_sized<rows, panels>(tile, sums); });
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul_q8/matmul_q8_generic.h"

WEIR_MATMUL_Q8_VARIANT(avx512_vnni)
