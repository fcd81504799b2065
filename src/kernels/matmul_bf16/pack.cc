#include <algorithm>
#include <vector>

#include "kernels/matmul_bf16/matmul_bf16.h"

namespace weir::kernels {

void pack_weights_bf16(const float* weights, const float* bias, std::size_t inputs, std::size_t channels,
                       std::uint16_t* values, float* packed_bias) {
  PackedWeightsBf16 shape;
  shape.inputs = inputs;
  shape.channels = channels;
  std::fill_n(values, shape.panels() * shape.panel_size(), std::uint16_t{0});
  std::fill_n(packed_bias, shape.padded_channels(), 0.0f);
  if (bias != nullptr) std::copy_n(bias, channels, packed_bias);
  const Bf16RowsVariant& narrow = choose_bf16_rows(kNeedsNothing);
  std::vector<std::uint16_t> channel(shape.padded_inputs());
  for (std::size_t n = 0; n < channels; ++n) {
    narrow.run({weights + n * inputs, inputs, 1, inputs, channel.data(), channel.size()});
    std::uint16_t* panel = values + n / kPanelChannels * shape.panel_size();
    for (std::size_t k = 0; k < inputs; ++k) {
      panel[(k / 2 * kPanelChannels + n % kPanelChannels) * 2 + k % 2] = channel[k];
    }
  }
}

}  // namespace weir::kernels
