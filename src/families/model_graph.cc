#include "families/model_graph.h"

#include <algorithm>

#include "families/positions.h"

namespace weir::families {
namespace {

std::string prefix_of(const Encoder& encoder, const Weights& weights) {
  for (const std::string& prefix : encoder.prefixes) {
    if (weights.has(prefix + encoder.embeddings.words.name + ".weight")) return prefix;
  }
  return {};
}

/// Without the mark of names outside of the encoder.
std::string initializer_name(const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; }

/// Names of a layer's own part of a fused tensor.
std::string own_name(const Linear& linear) {
  const std::string name = initializer_name(linear.name);
  return linear.stored_channels == 0 ? name : name + "." + std::to_string(linear.first_channel);
}

std::vector<std::int64_t> shape_of(std::initializer_list<std::uint64_t> sizes) {
  return std::vector<std::int64_t>(sizes.begin(), sizes.end());
}

}  // namespace

ModelGraph::ModelGraph(const Encoder& encoder, Weights& weights, onnx::GraphBuilder& graph)
    : encoder_(encoder), weights_(weights), graph_(graph), prefix_(prefix_of(encoder, weights)) {}

void ModelGraph::fail(Error error) {
  if (status_.ok()) status_ = std::move(error);
}

Status ModelGraph::finish() const {
  WEIR_RETURN_IF_ERROR(status_);
  for (const std::string& full_name : weights_.left_over()) {
    if (!full_name.starts_with(prefix_)) continue;
    const std::string name = full_name.substr(prefix_.size());
    const auto is_of = [&](const std::string& part) { return name.starts_with(part); };
    if (std::none_of(encoder_.parts.begin(), encoder_.parts.end(), is_of)) continue;
    if (std::find(encoder_.ignored.begin(), encoder_.ignored.end(), name) != encoder_.ignored.end()) continue;
    return Error(ErrorKind::kCorrupt,
                 "tensor '" + full_name + "' is in the checkpoint, but a " + encoder_.facts.family +
                     " of this config.json has none of that name",
                 "config.json");
  }
  return {};
}

std::vector<float> ModelGraph::values(const std::vector<std::string>& names, const std::vector<std::uint64_t>& shape) {
  if (!ok()) return {};
  std::vector<std::string> full_names;
  full_names.reserve(names.size());
  for (const std::string& name : names) full_names.push_back(full_name(name));
  auto taken = weights_.take(full_names, shape);
  if (taken.ok()) return std::move(taken).value();
  fail(std::move(taken).error());
  return {};
}

std::string ModelGraph::full_name(const std::string& name) const {
  return name.starts_with('/') ? name.substr(1) : prefix_ + name;
}

std::vector<float> ModelGraph::linear_weights(const Linear& linear) {
  const std::uint64_t stored = std::max(linear.stored_channels, linear.channels);
  std::vector<float> all = values({linear.name + ".weight"}, {stored, linear.inputs});
  if (stored == linear.channels || all.empty()) return all;
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(linear.first_channel * linear.inputs);
  return {first, first + static_cast<std::ptrdiff_t>(linear.channels * linear.inputs)};
}

std::vector<float> ModelGraph::linear_bias(const Linear& linear) {
  if (!linear.bias) return std::vector<float>(linear.channels, 0.0f);
  const std::uint64_t stored = std::max(linear.stored_channels, linear.channels);
  std::vector<float> all = values({linear.name + ".bias"}, {stored});
  if (stored == linear.channels || all.empty()) return all;
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(linear.first_channel);
  return {first, first + static_cast<std::ptrdiff_t>(linear.channels)};
}

std::pair<std::vector<float>, std::vector<float>> ModelGraph::norm_values(const Norm& norm) {
  std::vector<float> scale = values({norm.name + ".weight", norm.name + ".gamma"}, {norm.size});
  if (!norm.bias) return {std::move(scale), std::vector<float>(norm.size, 0.0f)};
  return {std::move(scale), values({norm.name + ".bias", norm.name + ".beta"}, {norm.size})};
}

std::vector<float> ModelGraph::relative_bias() {
  const RelativeBias& bias = *encoder_.relative_bias;
  const std::vector<float> by_bucket = values({bias.table.name + ".weight"}, {bias.table.rows, bias.table.columns});
  if (!ok()) return {};
  const auto reach = static_cast<std::int64_t>(bias.max_distance);
  std::vector<float> by_distance;
  for (std::uint64_t head = 0; head < bias.table.columns; ++head) {
    for (std::int64_t distance = -reach; distance <= reach; ++distance) {
      const auto buckets = static_cast<std::uint32_t>(bias.table.rows);
      const std::uint32_t bucket = relative_bucket(distance, buckets, bias.max_distance);
      by_distance.push_back(by_bucket[bucket * bias.table.columns + head]);
    }
  }
  return by_distance;
}

std::vector<std::int64_t> ModelGraph::position_rows() const {
  const Disentangled& positions = *encoder_.disentangled;
  const std::int64_t last = std::int64_t{encoder_.facts.max_positions} - 1;
  const std::int64_t span = positions.span;
  std::vector<std::int64_t> rows;
  for (std::int64_t distance = -last; distance <= last; ++distance) {
    const std::int64_t bucket = disentangled_bucket(distance, positions.buckets, positions.max_distance);
    rows.push_back(std::clamp<std::int64_t>(bucket + span, 0, 2 * span - 1));
  }
  return rows;
}

std::string ModelGraph::weight(const std::string& name, const std::vector<std::int64_t>& shape,
                               std::span<const float> values) {
  if (ok() && added_.insert(name).second) graph_.weight(name, shape, values);
  return name;
}

std::string ModelGraph::table(const Table& table) {
  std::string name = initializer_name(table.name) + ".weight";
  if (added_.contains(name)) return name;
  return weight(name, shape_of({table.rows, table.columns}),
                values({table.name + ".weight"}, {table.rows, table.columns}));
}

std::string ModelGraph::linear(const Linear& linear, const std::string& input, const std::string& output) {
  const std::string weight_name = own_name(linear) + ".weight";
  const std::string bias_name = own_name(linear) + ".bias";
  if (ok() && !added_.contains(weight_name)) {
    const std::vector<float> values = linear_weights(linear);
    if (ok()) {
      weight(weight_name, shape_of({linear.inputs, linear.channels}),
             transposed(values, linear.channels, linear.inputs));
    }
    if (linear.bias) weight(bias_name, shape_of({linear.channels}), linear_bias(linear));
  }
  if (!linear.bias) return graph_.node("MatMul", {input, weight_name}, output);
  return graph_.node("Gemm", {input, weight_name, bias_name}, output);
}

std::string ModelGraph::layer_norm(const Norm& norm, const std::string& input, const std::string& output) {
  const std::string scale_name = initializer_name(norm.name) + ".weight";
  const std::string bias_name = initializer_name(norm.name) + ".bias";
  if (ok() && !added_.contains(scale_name)) {
    const auto [scale, bias] = norm_values(norm);
    weight(scale_name, shape_of({norm.size}), scale);
    if (norm.bias) weight(bias_name, shape_of({norm.size}), bias);
  }
  std::vector<std::string> inputs = {input, scale_name};
  if (norm.bias) inputs.push_back(bias_name);
  return graph_.node("LayerNormalization", inputs, output, {{"axis", std::int64_t{-1}}, {"epsilon", norm.epsilon}});
}

std::string ModelGraph::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  if (!added_.insert(name).second) return name;
  return graph_.int64_constant(name, {static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace weir::families
