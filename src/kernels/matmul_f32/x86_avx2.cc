// 6 rows x 16 channels in 12 ymm accumulators.
#include "kernels/matmul_f32/matmul_f32.h"

namespace weir::kernels {
namespace {
constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTilePanels = 1;
}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul_f32/fma_tile.h"

WEIR_MATMUL_VARIANT(matmul_f32, avx2)
