#include <algorithm>

#include "kernels/matmul_f32/matmul_f32.h"

namespace weir::kernels {

void pack_weights_f32(const float* weights, const float* bias, std::size_t inputs, std::size_t channels, float* values,
                      float* packed_bias) {
  PackedWeightsF32 shape;
  shape.inputs = inputs;
  shape.channels = channels;
  std::fill_n(values, shape.panels() * shape.panel_size(), 0.0f);
  std::fill_n(packed_bias, shape.padded_channels(), 0.0f);
  if (bias != nullptr) std::copy_n(bias, channels, packed_bias);
  for (std::size_t n = 0; n < channels; ++n) {
    float* panel = values + n / kPanelChannels * shape.panel_size();
    for (std::size_t k = 0; k < inputs; ++k) panel[k * kPanelChannels + n % kPanelChannels] = weights[n * inputs + k];
  }
}

}  // namespace weir::kernels
