// What a micro-kernel of matmul_q8 is given. Has no code of its own: ISA files include it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::kernels {

struct Tile {
  const std::uint8_t* activations = nullptr;  ///< of the first row
  std::size_t activation_stride = 0;
  std::size_t first_row = 0;
  std::size_t rows = 0;                  ///< 1..kTileRows
  const std::int8_t* weights = nullptr;  ///< of the first panel
  std::size_t panel_bytes = 0;
  std::size_t panels = 0;  ///< 1..kTilePanels
  std::size_t first_channel = 0;
  const std::int32_t* correction = nullptr;  ///< of the first channel
  std::size_t padded_inputs = 0;             ///< a multiple of 64
};

}  // namespace weir::kernels
