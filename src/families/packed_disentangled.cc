#include "families/packed_disentangled.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace weir::families {
namespace {

constexpr std::size_t kTogether = 16;  // columns that the attention's kernel reads at once

/// Layer normalization of rows, in place.
void normalize(std::vector<float>& rows, const std::vector<float>& scale, const std::vector<float>& bias,
               float epsilon) {
  const std::size_t columns = scale.size();
  for (auto row = rows.begin(); row != rows.end(); row += static_cast<std::ptrdiff_t>(columns)) {
    const auto end = row + static_cast<std::ptrdiff_t>(columns);
    double mean = 0;
    double variance = 0;
    for (auto x = row; x != end; ++x) mean += *x / static_cast<double>(columns);
    for (auto x = row; x != end; ++x) variance += (*x - mean) * (*x - mean) / static_cast<double>(columns);
    const double inverse = 1 / std::sqrt(variance + epsilon);
    for (std::size_t c = 0; c < columns; ++c) {
      float& x = row[static_cast<std::ptrdiff_t>(c)];
      x = static_cast<float>((x - mean) * inverse * scale[c] + bias[c]);
    }
  }
}

/// result [channels][stride]: each row of `rows` through the layer becomes a column, zeros behind the last.
std::vector<float> project(const std::vector<float>& rows, const std::vector<float>& weights,
                           const std::vector<float>& bias, std::size_t inputs, std::size_t stride) {
  const std::size_t count = rows.size() / inputs;
  const std::vector<float> columns = transposed(rows, count, inputs);
  std::vector<float> result(bias.size() * stride);
  for (std::size_t channel = 0; channel < bias.size(); ++channel) {
    float* out = result.data() + channel * stride;
    std::fill_n(out, count, bias[channel]);
    for (std::size_t k = 0; k < inputs; ++k) {
      const float weight = weights[channel * inputs + k];
      const float* in = columns.data() + k * count;
      for (std::size_t i = 0; i < count; ++i) out[i] += weight * in[i];
    }
  }
  return result;
}

}  // namespace

const std::vector<float>& PackedDisentangled::table() {
  if (!table_.empty()) return table_;
  const Disentangled& positions = *encoder_.disentangled;
  table_ =
      model_.values({positions.positions.name + ".weight"}, {positions.positions.rows, positions.positions.columns});
  if (!positions.norm) return table_;
  const auto [scale, bias] = model_.norm_values(*positions.norm);
  if (model_.ok()) normalize(table_, scale, bias, positions.norm->epsilon);
  return table_;
}

std::string PackedDisentangled::positions(const Linear& linear, const std::string& name) {
  const std::vector<float>& rows = table();
  const std::vector<float> weights = model_.linear_weights(linear);
  const std::vector<float> bias = model_.linear_bias(linear);
  if (!model_.ok()) return name;
  const std::size_t count = rows.size() / linear.inputs;
  const std::size_t stride = (count + kTogether - 1) / kTogether * kTogether;
  return model_.weight(name, {static_cast<std::int64_t>(linear.channels), static_cast<std::int64_t>(stride)},
                       project(rows, weights, bias, linear.inputs, stride));
}

std::string PackedDisentangled::buckets() { return model_.integers("disentangled.buckets", model_.position_rows()); }

}  // namespace weir::families
