// 5 rows x 16 channels in 10 ymm accumulators, multiplied in fp32.
#include "kernels/matmul_bf16/matmul_bf16.h"

namespace weir::kernels {
namespace {
constexpr std::size_t kTileRows = 5;
constexpr std::size_t kTilePanels = 1;
}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul_bf16/fma_tile.h"

WEIR_MATMUL_VARIANT(matmul_bf16, avx2)
