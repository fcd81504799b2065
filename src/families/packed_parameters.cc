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
  std::size_t channels = 0;
  for (const Linear* layer : layers) {
    const std::vector<float> own_weights = model_.linear_weights(*layer);
    const std::vector<float> own_bias = model_.linear_bias(*layer);
    weights.insert(weights.end(), own_weights.begin(), own_weights.end());
    bias.insert(bias.end(), own_bias.begin(), own_bias.end());
    channels += layer->channels;
  }
  if (!model_.ok()) return name;
  auto added = operators_.weights(name, weights, bias, layers.front()->inputs, channels);
  if (added.ok()) return *added;
  model_.fail(std::move(added).error());
  return name;
}

PackedNorm PackedParameters::norm(const Norm& norm) {
  const auto [scale, bias] = model_.norm_values(norm);
  const auto size = static_cast<std::int64_t>(norm.size);
  return {model_.weight(norm.name + ".weight", {size}, scale), model_.weight(norm.name + ".bias", {size}, bias),
          norm.epsilon};
}

}  // namespace weir::families
