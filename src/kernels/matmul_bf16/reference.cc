// Plain C++: the oracle, and the variant of CPUs without vectors.
#include "kernels/matmul_bf16/matmul_bf16.h"

namespace weir::kernels {
namespace {
constexpr std::size_t kTileRows = 1;
constexpr std::size_t kTilePanels = 1;
}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul_bf16/fma_tile.h"

WEIR_MATMUL_VARIANT(matmul_bf16, portable)
