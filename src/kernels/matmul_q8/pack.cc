#include "kernels/matmul_q8/pack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weir::kernels {
namespace {

PackedWeightsQ8 shape_of(std::size_t inputs, std::size_t channels) {
  PackedWeightsQ8 shape;
  shape.inputs = inputs;
  shape.channels = channels;
  return shape;
}

float channel_scale(const float* weights, std::size_t inputs) {
  float peak = 0.0f;
  for (std::size_t k = 0; k < inputs; ++k) {
    if (!std::isfinite(weights[k])) return std::numeric_limits<float>::quiet_NaN();
    peak = std::max(peak, std::fabs(weights[k]));
  }
  return peak < 1e-30f ? 0.0f : peak / 127.0f;
}

void quantize_channel(const float* weights, std::size_t inputs, float scale, std::int8_t* out) {
  const bool usable = scale > 0.0f;
  for (std::size_t k = 0; k < inputs; ++k) {
    const float steps = usable ? std::clamp(std::nearbyint(weights[k] / scale), -127.0f, 127.0f) : 0.0f;
    out[k] = static_cast<std::int8_t>(steps);
  }
}

/// Puts one channel, whose scale is set, into its place in the panels and sets what follows from its sum.
void place_channel(const std::int8_t* weights, const PackedWeightsQ8& shape, std::size_t channel,
                   const PackedWeightsQ8Buffers& out) {
  std::int8_t* panel = out.values + channel / kPanelChannels * shape.panel_bytes();
  std::int32_t sum = 0;
  for (std::size_t k = 0; k < shape.inputs; ++k) {
    panel[(k / 4 * kPanelChannels + channel % kPanelChannels) * 4 + k % 4] = weights[k];
    sum += weights[k];
  }
  out.correction[channel] = -128 * sum;
  out.sum[channel] = out.scale[channel] * static_cast<float>(sum);
}

void clear(const PackedWeightsQ8& shape, const PackedWeightsQ8Buffers& out) {
  std::fill_n(out.values, shape.panels() * shape.panel_bytes(), std::int8_t{0});
  std::fill_n(out.correction, shape.padded_channels(), 0);
  std::fill_n(out.scale, shape.padded_channels(), 0.0f);
  std::fill_n(out.sum, shape.padded_channels(), 0.0f);
  std::fill_n(out.bias, shape.padded_channels(), 0.0f);
}

}  // namespace

void pack_weights_q8(const float* weights, const float* bias, std::size_t inputs, std::size_t channels,
                     const PackedWeightsQ8Buffers& out) {
  const PackedWeightsQ8 shape = shape_of(inputs, channels);
  clear(shape, out);
  std::vector<std::int8_t> channel(inputs);
  for (std::size_t n = 0; n < channels; ++n) {
    out.scale[n] = channel_scale(weights + n * inputs, inputs);
    quantize_channel(weights + n * inputs, inputs, out.scale[n], channel.data());
    place_channel(channel.data(), shape, n, out);
  }
  if (bias != nullptr) std::copy_n(bias, channels, out.bias);
}

void pack_quantized_weights_q8(const std::int8_t* weights, const float* scale, const float* bias, std::size_t inputs,
                               std::size_t channels, const PackedWeightsQ8Buffers& out) {
  const PackedWeightsQ8 shape = shape_of(inputs, channels);
  clear(shape, out);
  std::copy_n(scale, channels, out.scale);
  for (std::size_t n = 0; n < channels; ++n) place_channel(weights + n * inputs, shape, n, out);
  if (bias != nullptr) std::copy_n(bias, channels, out.bias);
}

}  // namespace weir::kernels
