// A small or large encoder with random weights, for the test and the benchmark. Not part of the product.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <new>
#include <random>
#include <vector>

#include "kernels/encoder/encoder.h"
#include "kernels/matmul_q8/pack.h"

namespace weir::kernels {

/// Places arrays as they lie in a mapped file, at a multiple of 64 bytes: loads that cross cache lines cost a fifth of
/// the speed.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};
template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

struct EncoderSizes {
  std::size_t layers, hidden, intermediate, heads, vocabulary, positions;
};

/// Owns what its `model` points to.
class RandomModel {
 public:
  /// A linear layer as a framework stores it.
  struct Linear {
    std::size_t inputs, channels;
    std::vector<float> weights, bias;
  };

  explicit RandomModel(const EncoderSizes& sizes) : random_(7) {
    model.vocabulary = sizes.vocabulary;
    model.positions = sizes.positions;
    model.segments = 2;
    model.hidden = sizes.hidden;
    model.intermediate = sizes.intermediate;
    model.heads = sizes.heads;
    model.embedding.words = normal(sizes.vocabulary * sizes.hidden, 1.0f);
    model.embedding.positions = normal(sizes.positions * sizes.hidden, 0.3f);
    model.embedding.segments = normal(2 * sizes.hidden, 0.3f);
    model.embedding.layer_norm = norm();
    for (std::size_t i = 0; i < sizes.layers; ++i) {
      EncoderLayer layer;
      layer.query_key_value = linear(sizes.hidden, 3 * sizes.hidden);
      layer.attention_output = linear(sizes.hidden, sizes.hidden);
      layer.attention_norm = norm();
      layer.feed_forward_up = linear(sizes.hidden, sizes.intermediate);
      layer.feed_forward_down = linear(sizes.intermediate, sizes.hidden);
      layer.output_norm = norm();
      layers_.push_back(layer);
    }
    model.layers = layers_;
  }
  RandomModel(const RandomModel&) = delete;
  RandomModel& operator=(const RandomModel&) = delete;

  /// Linear layers in the order of the computation, four per encoder layer.
  const std::deque<Linear>& linears() const { return linears_; }

  EncoderModel model;

 private:
  struct Packed {
    LineVector<std::int8_t> values;
    LineVector<std::int32_t> correction;
    LineVector<float> scale, sum, bias;
  };

  const float* normal(std::size_t count, float deviation, float mean = 0.0f) {
    std::normal_distribution<float> distribution(mean, deviation);
    LineVector<float>& values = floats_.emplace_back(count);
    for (float& value : values) value = distribution(random_);
    return values.data();
  }
  LayerNormParameters norm() {
    const float* gamma = normal(model.hidden, 0.1f, 1.0f);
    return {gamma, normal(model.hidden, 0.1f), 1e-12f};
  }
  PackedWeightsQ8 linear(std::size_t inputs, std::size_t channels) {
    const float deviation = 1.5f / std::sqrt(static_cast<float>(inputs));
    Linear& plain = linears_.emplace_back();
    plain = {inputs, channels, {}, {}};
    const float* weights = normal(inputs * channels, deviation);
    plain.weights.assign(weights, weights + inputs * channels);
    floats_.pop_back();
    const float* bias = normal(channels, 0.1f);
    plain.bias.assign(bias, bias + channels);
    PackedWeightsQ8 view;
    view.inputs = inputs;
    view.channels = channels;
    Packed& packed = packed_.emplace_back();
    packed.values.resize(view.panels() * view.panel_bytes());
    packed.correction.resize(view.padded_channels());
    packed.scale.resize(view.padded_channels());
    packed.sum.resize(view.padded_channels());
    packed.bias.resize(view.padded_channels());
    pack_weights_q8(
        plain.weights.data(), plain.bias.data(), inputs, channels,
        {packed.values.data(), packed.correction.data(), packed.scale.data(), packed.sum.data(), packed.bias.data()});
    view.values = packed.values.data();
    view.correction = packed.correction.data();
    view.scale = packed.scale.data();
    view.sum = packed.sum.data();
    view.bias = packed.bias.data();
    return view;
  }

  std::mt19937 random_;
  std::deque<LineVector<float>> floats_;
  std::deque<Linear> linears_;
  std::deque<Packed> packed_;
  std::vector<EncoderLayer> layers_;
};

}  // namespace weir::kernels
