// Turns the run-time size of a tile into template arguments.
#pragma once

#include <cstddef>

namespace weir::kernels {
namespace {

template <int rows, int panels, class F>
inline void dispatch_panels(std::size_t tile_panels, F f) {
  if constexpr (panels > 1) {
    if (tile_panels != panels) return dispatch_panels<rows, panels - 1>(tile_panels, f);
  }
  f.template operator()<rows, panels>();
}

/// Calls f<rows>() with the rows of `tile`, which are at most the given ones.
template <int rows, class Tile, class F>
inline void dispatch_rows(const Tile& tile, F f) {
  if constexpr (rows > 1) {
    if (tile.rows != rows) return dispatch_rows<rows - 1>(tile, f);
  }
  f.template operator()<rows>();
}

/// Calls f<rows, panels>() with the sizes of `tile`, which are at most the given ones.
template <int rows, int panels, class Tile, class F>
inline void dispatch_tile(const Tile& tile, F f) {
  dispatch_rows<rows>(tile, [&]<int tile_rows>() { dispatch_panels<tile_rows, panels>(tile.panels, f); });
}

}  // namespace
}  // namespace weir::kernels
