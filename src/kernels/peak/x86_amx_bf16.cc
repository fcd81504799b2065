#include <immintrin.h>

#include "kernels/amx/tile_configuration.h"
#include "kernels/peak/peak.h"

namespace weir::kernels {

void peak_amx_bf16(std::int64_t iterations);
void peak_amx_bf16(std::int64_t iterations) {
  configure_tiles(32);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (std::int64_t i = 0; i < iterations; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

}  // namespace weir::kernels
