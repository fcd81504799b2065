// 32 rows x 32 channels in four AMX accumulator tiles: per 64 bytes of a row 4 multiplications on 2 tiles of
// activations and 2 of weights. A tile of weights is 1024 consecutive bytes of a panel; a tile of activations is 16
// rows as they lie. Internal linkage: only AMX sources include it.
//
// `Dot` gives the instructions by their place among the accumulators, tile numbers being literals of the instructions.
#pragma once

#include <cstddef>

#include "kernels/amx/tile_configuration.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRowBytes = 64;
constexpr std::size_t kTileBytes = 1024;
constexpr std::size_t kTileChannels = 16;

template <class Dot, bool both_halves, bool both_panels, class Tile, class Sum>
inline void amx_tile_products_sized(const Tile& tile, Sum* sums) {
  Dot::start_upper_left(tile);
  if constexpr (both_panels) Dot::start_upper_right(tile);
  if constexpr (both_halves) Dot::start_lower_left(tile);
  if constexpr (both_halves && both_panels) Dot::start_lower_right(tile);

  const std::size_t stride = tile.activation_stride * sizeof(*tile.activations);
  const std::size_t panel_bytes = tile.panel_size * sizeof(*tile.weights);
  const auto* upper = reinterpret_cast<const char*>(tile.activations);
  const char* lower = upper + 16 * stride;
  const auto* w = reinterpret_cast<const char*>(tile.weights);
  const char* prefetch = tile.prefetch;
  const std::size_t steps = panel_bytes / kTileBytes;
  const std::size_t lines = (tile.prefetch_lines + steps - 1) / steps;
  for (std::size_t step = 0; step < steps; ++step, w += kTileBytes, upper += kTileRowBytes, lower += kTileRowBytes) {
    _tile_loadd(4, upper, stride);
    _tile_loadd(6, w, kTileRowBytes);
    Dot::upper_left();
    if constexpr (both_panels) {
      _tile_loadd(7, w + panel_bytes, kTileRowBytes);
      Dot::upper_right();
    }
    if constexpr (both_halves) {
      _tile_loadd(5, lower, stride);
      Dot::lower_left();
    }
    if constexpr (both_halves && both_panels) Dot::lower_right();
    for (std::size_t line = 0; line < lines; ++line, prefetch += kTileRowBytes) _mm_prefetch(prefetch, _MM_HINT_T1);
  }

  constexpr std::size_t kSumsStride = 2 * kTileChannels * sizeof(Sum);
  _tile_stored(0, sums, kSumsStride);
  if constexpr (both_panels) _tile_stored(1, sums + kTileChannels, kSumsStride);
  Sum* lower_sums = sums + 16 * 2 * kTileChannels;
  if constexpr (both_halves) _tile_stored(2, lower_sums, kSumsStride);
  if constexpr (both_halves && both_panels) _tile_stored(3, lower_sums + kTileChannels, kSumsStride);
}

/// Writes sums[tile.rows][32].
template <class Dot, class Tile, class Sum>
inline void amx_tile_products(const Tile& tile, Sum* sums) {
  const bool both_halves = tile.rows > 16;
  const bool both_panels = tile.panels == 2;
  if (both_halves && both_panels) return amx_tile_products_sized<Dot, true, true>(tile, sums);
  if (both_halves) return amx_tile_products_sized<Dot, true, false>(tile, sums);
  if (both_panels) return amx_tile_products_sized<Dot, false, true>(tile, sums);
  amx_tile_products_sized<Dot, false, false>(tile, sums);
}

}  // namespace
}  // namespace weir::kernels
