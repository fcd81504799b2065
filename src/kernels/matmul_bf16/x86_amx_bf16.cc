// 32 rows x 32 channels in four AMX accumulator tiles by tdpbf16ps; see amx/tile_products.h.
#include "kernels/amx/tile_products.h"
#include "kernels/matmul_bf16/bf16_numbers.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 32;
constexpr std::size_t kTilePanels = 2;
constexpr bool kTilesAreConfigured = true;
constexpr bool kSumsInRegisters = false;
inline void release_tiles() { _tile_release(); }

/// Multiplications of bf16, sums that start from zero.
struct Bf16Dot {
  static void start_upper_left(const Tile&) { _tile_zero(0); }
  static void start_upper_right(const Tile&) { _tile_zero(1); }
  static void start_lower_left(const Tile&) { _tile_zero(2); }
  static void start_lower_right(const Tile&) { _tile_zero(3); }
  static void upper_left() { _tile_dpbf16ps(0, 4, 6); }
  static void upper_right() { _tile_dpbf16ps(1, 4, 7); }
  static void lower_left() { _tile_dpbf16ps(2, 5, 6); }
  static void lower_right() { _tile_dpbf16ps(3, 5, 7); }
};

void tile_products(const Tile& tile, float* sums) { amx_tile_products<Bf16Dot>(tile, sums); }

}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/matmul_generic.h"

WEIR_MATMUL_VARIANT(matmul_bf16, amx_bf16)
