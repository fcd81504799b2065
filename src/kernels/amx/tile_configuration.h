// The division of the eight AMX tile registers that all AMX kernels here use: 2 x 2 accumulators of 16 x 16, two tiles
// of activations, two of weights. Internal linkage: only AMX sources include it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace weir::kernels {
namespace {

/// The operand of ldtilecfg, palette 1.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

inline void load_tile_configuration(const TileConfiguration& configuration) {
  // g++ tells its optimizer of 8 of the 64 bytes that ldtilecfg reads.
  __asm__ volatile("" : : "r"(&configuration) : "memory");
  _tile_loadconfig(&configuration);
}

/// Tiles 0..3 are sums (row half * 2 + panel), 4 and 5 activations, 6 and 7 weights.
inline void configure_tiles(std::size_t rows) {
  const auto upper = static_cast<std::uint8_t>(rows < 16 ? rows : 16);
  const auto lower = static_cast<std::uint8_t>(rows < 16 ? 0 : rows - 16);
  // A tile with no rows is illegal; with 16 rows or less the lower ones are not used.
  const auto lower_or_one = static_cast<std::uint8_t>(lower == 0 ? 1 : lower);
  const std::uint8_t tile_rows[8] = {upper, upper, lower_or_one, lower_or_one, upper, lower_or_one, 16, 16};
  TileConfiguration configuration;
  for (int t = 0; t < 8; ++t) {
    configuration.row_bytes[t] = 64;
    configuration.rows[t] = tile_rows[t];
  }
  load_tile_configuration(configuration);
}

}  // namespace
}  // namespace weir::kernels
