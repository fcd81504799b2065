// 6 rows x 64 channels in 24 zmm accumulators, multiplied in fp32.
#include "kernels/matmul_bf16/matmul_bf16.h"

namespace weir::kernels {
namespace {
constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTilePanels = 4;
}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul_bf16/fma_tile.h"

WEIR_MATMUL_VARIANT(matmul_bf16, avx512)
