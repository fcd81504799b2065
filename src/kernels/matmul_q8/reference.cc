// Plain C++: the oracle, and the variant of CPUs without vectors.
#include "kernels/matmul_q8/q8_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 1;
constexpr std::size_t kTilePanels = 1;
constexpr bool kTilesAreConfigured = false;
constexpr bool kSumsInRegisters = false;
inline void configure_tiles(std::size_t) {}
inline void release_tiles() {}

void tile_products(const Tile& tile, std::int32_t* sums) {
  for (std::size_t n = 0; n < kPanelChannels; ++n) {
    std::int32_t sum = tile.correction[n];
    for (std::size_t k = 0; k < tile.padded_inputs; ++k) {
      const std::int8_t weight = tile.weights[(k / 4 * kPanelChannels + n) * 4 + k % 4];
      sum += static_cast<std::int32_t>(tile.activations[k]) * weight;
    }
    sums[n] = sum;
  }
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_q8, portable)
