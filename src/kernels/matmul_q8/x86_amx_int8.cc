// 32 rows x 32 channels in four AMX accumulator tiles by tdpbusd; see amx/tile_products.h.
#include "kernels/amx/tile_products.h"
#include "kernels/matmul_q8/q8_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 32;
constexpr std::size_t kTilePanels = 2;
constexpr bool kTilesAreConfigured = true;
constexpr bool kSumsInRegisters = false;
inline void release_tiles() { _tile_release(); }

/// Multiplications of bytes, sums that start from the correction.
struct Int8Dot {
  // Row stride 0: every row of sums starts from the same correction.
  static void start_upper_left(const Tile& tile) { _tile_loadd(0, tile.correction, 0); }
  static void start_upper_right(const Tile& tile) { _tile_loadd(1, tile.correction + kLanes, 0); }
  static void start_lower_left(const Tile& tile) { _tile_loadd(2, tile.correction, 0); }
  static void start_lower_right(const Tile& tile) { _tile_loadd(3, tile.correction + kLanes, 0); }
  static void upper_left() { _tile_dpbusd(0, 4, 6); }
  static void upper_right() { _tile_dpbusd(1, 4, 7); }
  static void lower_left() { _tile_dpbusd(2, 5, 6); }
  static void lower_right() { _tile_dpbusd(3, 5, 7); }
};

void tile_products(const Tile& tile, std::int32_t* sums) { amx_tile_products<Int8Dot>(tile, sums); }

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_q8, amx_int8)
