// 10 rows x 16 channels for AVX-512 without VNNI, by vpmaddwd on operands widened to 16 bits as in x86_avx2.cc.
#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul_q8/q8_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 10;
constexpr std::size_t kTilePanels = 1;
constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = false;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

/// Four activations as 16 bits, repeated for each channel of half a panel.
inline __m512i broadcast_group(const std::uint8_t* p) {
  std::int32_t group = 0;
  __builtin_memcpy(&group, p, sizeof group);
  return _mm512_cvtepu8_epi16(_mm256_set1_epi32(group));
}

/// Sixteen channels' sums from two registers of pairs.
inline __m512i add_pairs(__m512i first, __m512i second) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return _mm512_add_epi32(_mm512_permutex2var_epi32(first, even, second),
                          _mm512_permutex2var_epi32(first, odd, second));
}

template <int rows>
[[gnu::noinline]] void tile_products_sized(const Tile& tile, std::int32_t* sums) {
  __m512i low[rows];
  __m512i high[rows];
  unroll<rows>([&]<int r>() WEIR_INLINED { low[r] = high[r] = _mm512_setzero_si512(); });
  const std::uint8_t* a = tile.activations;
  const std::int8_t* w = tile.weights;
  const std::size_t stride = tile.activation_stride;
  for (const std::int8_t* end = w + tile.panel_size; w != end; w += 64, a += 4) {
    const __m512i weight_low = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)));
    const __m512i weight_high = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 32)));
    unroll<rows>([&]<int r>() WEIR_INLINED {
      const __m512i group = broadcast_group(a + r * stride);
      low[r] = _mm512_add_epi32(low[r], _mm512_madd_epi16(group, weight_low));
      high[r] = _mm512_add_epi32(high[r], _mm512_madd_epi16(group, weight_high));
    });
  }
  const __m512i correction = _mm512_loadu_si512(tile.correction);
  unroll<rows>([&]<int r>() WEIR_INLINED {
    _mm512_store_si512(sums + r * kLanes, _mm512_add_epi32(add_pairs(low[r], high[r]), correction));
  });
}

void tile_products(const Tile& tile, std::int32_t* sums) {
  dispatch_tile<kTileRows, kTilePanels>(tile, [&]<int rows, int>() { tile_products_sized<rows>(tile, sums); });
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_q8, avx512)
