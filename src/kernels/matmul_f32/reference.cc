// Plain C++: the oracle, and the variant of CPUs without vectors.
#include "kernels/matmul_f32/matmul_f32.h"

namespace weir::kernels {
namespace {
constexpr std::size_t kTileRows = 1;
constexpr std::size_t kTilePanels = 1;
}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul_f32/fma_tile.h"

WEIR_MATMUL_VARIANT(matmul_f32, portable)
