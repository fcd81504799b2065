// What a micro-kernel of a linear layer is given. Has no code of its own: ISA files include it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::kernels {

template <class Args>
struct MatmulTile {
  const typename Args::Input* activations = nullptr;  ///< of the first row
  std::size_t activation_stride = 0;                  ///< in elements
  std::size_t first_row = 0;
  std::size_t rows = 0;                            ///< 1..kTileRows
  const typename Args::Weight* weights = nullptr;  ///< of the first panel
  std::size_t panel_size = 0;                      ///< elements from one panel to the next
  std::size_t panels = 0;                          ///< 1..kTilePanels
  std::size_t first_channel = 0;
  std::size_t padded_inputs = 0;
  const std::int32_t* correction = nullptr;  ///< of the first channel, where the family has one
  /// The part of the next tiles' weights that falls to this tile to prefetch; not all of it need exist.
  const char* prefetch = nullptr;
  std::size_t prefetch_lines = 0;
};

}  // namespace weir::kernels
