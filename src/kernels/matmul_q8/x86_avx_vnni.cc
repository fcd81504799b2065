// 6 rows x 16 channels in 12 ymm accumulators, by the VEX form of vpdpbusd.
#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul_q8/q8_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTilePanels = 1;
constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = false;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

inline __m256i broadcast_group(const std::uint8_t* p) {
  std::int32_t group = 0;
  __builtin_memcpy(&group, p, sizeof group);
  return _mm256_set1_epi32(group);
}

template <int rows>
[[gnu::noinline]] void tile_products_sized(const Tile& tile, std::int32_t* sums) {
  __m256i low[rows];
  __m256i high[rows];
  unroll<rows>([&]<int r>() WEIR_INLINED {
    low[r] = load_half(tile.correction);
    high[r] = load_half(tile.correction + 8);
  });
  const std::uint8_t* a = tile.activations;
  const std::int8_t* w = tile.weights;
  const std::size_t stride = tile.activation_stride;
  for (const std::int8_t* end = w + tile.panel_size; w != end; w += 64, a += 4) {
    const __m256i weight_low = load_half(w);
    const __m256i weight_high = load_half(w + 32);
    unroll<rows>([&]<int r>() WEIR_INLINED {
      const __m256i group = broadcast_group(a + r * stride);
      low[r] = _mm256_dpbusd_avx_epi32(low[r], group, weight_low);
      high[r] = _mm256_dpbusd_avx_epi32(high[r], group, weight_high);
    });
  }
  unroll<rows>([&]<int r>() WEIR_INLINED { store_i32(sums + r * kLanes, {low[r], high[r]}); });
}

void tile_products(const Tile& tile, std::int32_t* sums) {
  dispatch_tile<kTileRows, kTilePanels>(tile, [&]<int rows, int>() { tile_products_sized<rows>(tile, sums); });
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_q8, avx_vnni)
