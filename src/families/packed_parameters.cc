#include "families/packed_parameters.h"

#include <cstdint>
#include <utility>

namespace weir::families {

std::string PackedParameters::linear(const std::string& name, const std::vector<const Linear*>& layers) {
  std::string key;
  for (const Linear* layer : layers) key += layer->name + " " + std::to_string(layer->first_channel) + " ";
  const auto found = added_.find(key);
  if (found != added_.end()) return found->second;
  return added_[key] = add(name, layers);
}

std::string PackedParameters::add(const std::string& name, const std::vector<const Linear*>& layers) {
  std::vector<float> weights;
  std::vector<float> bias;
  for (const Linear* layer : layers) {
    const std::vector<float> own_weights = model_.linear_weights(*layer);
    const std::vector<float> own_bias = model_.linear_bias(*layer);
    weights.insert(weights.end(), own_weights.begin(), own_weights.end());
    bias.insert(bias.end(), own_bias.begin(), own_bias.end());
  }
  return add(name, weights, bias);
}

std::string PackedParameters::add(const std::string& name, const std::vector<float>& weights,
                                  const std::vector<float>& bias) {
  if (!model_.ok()) return name;
  auto added = operators_.weights(name, weights, bias, weights.size() / bias.size(), bias.size());
  if (added.ok()) return *added;
  model_.fail(std::move(added).error());
  return name;
}

std::string PackedParameters::convolution(const std::string& name, const Convolution& convolution,
                                          std::uint64_t hidden) {
  const std::uint64_t width = convolution.width;
  const std::uint64_t group = hidden / convolution.groups;
  const std::vector<float> stored = model_.values({convolution.name + ".weight"}, {hidden, group, width});
  const std::vector<float> bias = model_.values({convolution.name + ".bias"}, {hidden});
  if (!model_.ok()) return name;
  std::vector<float> weights(hidden * width * hidden, 0.0f);
  for (std::uint64_t channel = 0; channel < hidden; ++channel) {
    const std::uint64_t first = channel / group * group;
    for (std::uint64_t i = 0; i < group; ++i) {
      for (std::uint64_t place = 0; place < width; ++place) {
        weights[(channel * width + place) * hidden + first + i] = stored[(channel * group + i) * width + place];
      }
    }
  }
  return add(name, weights, bias);
}

PackedNorm PackedParameters::norm(const Norm& norm) {
  const auto [scale, bias] = model_.norm_values(norm);
  const auto size = static_cast<std::int64_t>(norm.size);
  return {model_.weight(norm.name + ".weight", {size}, scale), model_.weight(norm.name + ".bias", {size}, bias),
          norm.epsilon};
}

}  // namespace weir::families
