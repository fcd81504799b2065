// 3 rows x 16 channels. vpmaddubsw would saturate, so both operands are widened to 16 bits and multiplied by vpmaddwd,
// which leaves two 32-bit sums per channel; they are added at the end.
#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul_q8/q8_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 3;
constexpr std::size_t kTilePanels = 1;
constexpr int kQuarters = 4;  // of a panel: 4 channels x 4 inputs fill a ymm register
constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = false;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

/// Four activations as 16 bits, repeated for each channel of a quarter.
inline __m256i broadcast_group(const std::uint8_t* p) {
  std::int32_t group = 0;
  __builtin_memcpy(&group, p, sizeof group);
  return _mm256_cvtepu8_epi16(_mm_set1_epi32(group));
}

/// Eight channels' sums from two registers of pairs.
inline __m256i add_pairs(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, second), 0xd8);
}

template <int rows>
[[gnu::noinline]] void tile_products_sized(const Tile& tile, std::int32_t* sums) {
  __m256i sum[rows][kQuarters];
  unroll<rows>([&]<int r>() WEIR_INLINED {
    unroll<kQuarters>([&]<int q>() WEIR_INLINED { sum[r][q] = _mm256_setzero_si256(); });
  });
  const std::uint8_t* a = tile.activations;
  const std::int8_t* w = tile.weights;
  const std::size_t stride = tile.activation_stride;
  for (const std::int8_t* end = w + tile.panel_size; w != end; w += 64, a += 4) {
    __m256i group[rows];
    unroll<rows>([&]<int r>() WEIR_INLINED { group[r] = broadcast_group(a + r * stride); });
    unroll<kQuarters>([&]<int q>() WEIR_INLINED {
      const __m256i weight = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + q * 16)));
      unroll<rows>([&]<int r>()
                       WEIR_INLINED { sum[r][q] = _mm256_add_epi32(sum[r][q], _mm256_madd_epi16(group[r], weight)); });
    });
  }
  const I32x16 correction = load_i32(tile.correction);
  unroll<rows>([&]<int r>() WEIR_INLINED {
    const I32x16 total = {add_pairs(sum[r][0], sum[r][1]), add_pairs(sum[r][2], sum[r][3])};
    store_i32(sums + r * kLanes, add(total, correction));
  });
}

void tile_products(const Tile& tile, std::int32_t* sums) {
  dispatch_tile<kTileRows, kTilePanels>(tile, [&]<int rows, int>() { tile_products_sized<rows>(tile, sums); });
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_q8, avx2)
