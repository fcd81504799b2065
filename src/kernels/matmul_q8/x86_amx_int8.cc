// 32 rows x 32 channels in four AMX accumulator tiles: per 64 inputs 4 tdpbusd on 2 tiles of activations and 2 of
// weights. A tile of weights is 1024 consecutive bytes of a panel; a tile of activations is 16 rows as they lie.
#include "kernels/amx/tile_configuration.h"
#include "kernels/matmul_q8/matmul_q8.h"
#include "kernels/matmul_q8/tile.h"
#include "kernels/simd/f32x16.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 32;
constexpr std::size_t kTilePanels = 2;
constexpr bool kTilesAreConfigured = true;

inline void release_tiles() { _tile_release(); }

constexpr std::size_t kSumsStride = kTilePanels * kLanes * sizeof(std::int32_t);

template <bool both_halves, bool both_panels>
inline void tile_products_sized(const Tile& tile, std::int32_t* sums) {
  // Row stride 0: every row of sums starts from the same correction.
  _tile_loadd(0, tile.correction, 0);
  if constexpr (both_panels) _tile_loadd(1, tile.correction + kLanes, 0);
  if constexpr (both_halves) _tile_loadd(2, tile.correction, 0);
  if constexpr (both_halves && both_panels) _tile_loadd(3, tile.correction + kLanes, 0);

  const std::uint8_t* upper = tile.activations;
  const std::uint8_t* lower = upper + 16 * tile.activation_stride;
  const std::int8_t* w = tile.weights;
  for (std::size_t k = 0; k < tile.padded_inputs; k += 64, w += 1024) {
    _tile_loadd(4, upper + k, tile.activation_stride);
    _tile_loadd(6, w, 64);
    _tile_dpbusd(0, 4, 6);
    if constexpr (both_panels) {
      _tile_loadd(7, w + tile.panel_bytes, 64);
      _tile_dpbusd(1, 4, 7);
    }
    if constexpr (both_halves) {
      _tile_loadd(5, lower + k, tile.activation_stride);
      _tile_dpbusd(2, 5, 6);
    }
    if constexpr (both_halves && both_panels) _tile_dpbusd(3, 5, 7);
  }

  _tile_stored(0, sums, kSumsStride);
  if constexpr (both_panels) _tile_stored(1, sums + kLanes, kSumsStride);
  std::int32_t* lower_sums = sums + 16 * kTilePanels * kLanes;
  if constexpr (both_halves) _tile_stored(2, lower_sums, kSumsStride);
  if constexpr (both_halves && both_panels) _tile_stored(3, lower_sums + kLanes, kSumsStride);
}

void tile_products(const Tile& tile, std::int32_t* sums) {
  const bool both_halves = tile.rows > 16;
  const bool both_panels = tile.panels == 2;
  if (both_halves && both_panels) return tile_products_sized<true, true>(tile, sums);
  if (both_halves) return tile_products_sized<true, false>(tile, sums);
  if (both_panels) return tile_products_sized<false, true>(tile, sums);
  tile_products_sized<false, false>(tile, sums);
}

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul_q8/matmul_q8_generic.h"

WEIR_MATMUL_Q8_VARIANT(amx_int8)
