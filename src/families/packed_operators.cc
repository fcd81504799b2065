#include "families/packed_operators.h"

#include <cmath>
#include <iterator>

#include "packed_weights/linear.h"

namespace weir::families {
namespace {

/// What the parts of a precision are called: in settings and attributes, and in operators.
struct Names {
  const char* precision;
  const char* op;
};
constexpr Names kNames[] = {{"fp32", "LinearF32"}, {"bf16", "LinearBf16"}, {"int8", "LinearQ8"}};

const Names& names_of(PackedPrecision precision) { return kNames[static_cast<std::size_t>(precision)]; }

std::string attribute(PackedPrecision precision) { return names_of(precision).precision; }

}  // namespace

Result<PackedPrecision> read_packed_precision(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i].precision) return static_cast<PackedPrecision>(i);
  }
  return Error(ErrorKind::kUnsupported, "packed graphs in " + name + " are not supported; weir has fp32, bf16 and int8",
               "--precision");
}

std::string PackedOperators::op(const char* end) const { return std::string(names_of(precision_).op) + end; }

PackedRows PackedOperators::rows(const std::string& name) const {
  PackedRows rows{name, {}, {}};
  if (precision_ != PackedPrecision::kFp32) rows.narrow = name + ".rows";
  if (precision_ == PackedPrecision::kInt8) rows.scales = name + ".scales";
  return rows;
}

std::vector<std::string> PackedOperators::outputs(const PackedRows& rows, bool with_values) const {
  const std::string values = with_values ? rows.values : std::string();
  switch (precision_) {
    case PackedPrecision::kFp32:
      return {rows.values};
    case PackedPrecision::kBf16:
      return {values, "", "", rows.narrow};
    case PackedPrecision::kInt8:
      return {values, rows.narrow, rows.scales};
  }
  return {};
}

std::vector<std::string> PackedOperators::inputs(const PackedRows& rows, const std::vector<std::string>& more) {
  std::vector<std::string> names = {rows.narrow.empty() ? rows.values : rows.narrow};
  if (!rows.scales.empty()) names.push_back(rows.scales);
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

Result<std::string> PackedOperators::weights(const std::string& name, std::span<const float> values,
                                             std::span<const float> bias, std::size_t inputs, std::size_t channels) {
  const auto pack = [&] {
    switch (precision_) {
      case PackedPrecision::kFp32:
        return packed_weights::pack_linear_f32(values, bias, inputs, channels);
      case PackedPrecision::kBf16:
        return packed_weights::pack_linear_bf16(values, bias, inputs, channels);
      case PackedPrecision::kInt8:
        break;
    }
    return packed_weights::pack_linear_q8(values, bias, inputs, channels);
  };
  WEIR_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, pack());
  return graph_.bytes(name + ".packed", bytes);
}

PackedRows PackedOperators::embedding(const std::string& name, const std::vector<std::string>& inputs,
                                      const onnx::Attributes& attributes) {
  const PackedRows result = rows(name);
  onnx::Attributes all = attributes;
  all.emplace_back("rows", attribute(precision_));
  graph_.weir_node("PackedEmbedding", inputs, outputs(result, true), all);
  return result;
}

std::string PackedOperators::linear(const std::string& name, const PackedRows& input, const std::string& weights) {
  graph_.weir_node(op(""), inputs(input, {weights}), {name},
                   {{"activation", std::string("none")}, {"rows", attribute(PackedPrecision::kFp32)}});
  return name;
}

PackedRows PackedOperators::linear(const std::string& name, const PackedRows& input, const std::string& weights,
                                   const std::string& activation) {
  const PackedRows result = rows(name);
  graph_.weir_node(op(""), inputs(input, {weights}), outputs(result, false),
                   {{"activation", activation}, {"rows", attribute(precision_)}});
  return result;
}

PackedRows PackedOperators::residual_norm(const std::string& name, const PackedRows& input, const ResidualNorm& step) {
  const PackedRows result = rows(name);
  graph_.weir_node(op("ResidualNorm"), inputs(input, {step.weights, step.residual, step.gamma, step.beta}),
                   step.last ? std::vector<std::string>{result.values} : outputs(result, true),
                   {{"epsilon", step.epsilon}, {"rows", attribute(step.last ? PackedPrecision::kFp32 : precision_)}});
  return result;
}

PackedRows PackedOperators::attention(const std::string& name, const std::string& query_key_value,
                                      const std::string& offsets, std::size_t heads, std::size_t head_size) {
  const PackedRows result = rows(name);
  graph_.weir_node("PackedAttention", {query_key_value, offsets}, outputs(result, false),
                   {{"heads", static_cast<std::int64_t>(heads)},
                    {"scale", 1.0f / std::sqrt(static_cast<float>(head_size))},
                    {"precision", std::string("fp32")},
                    {"rows", attribute(precision_)}});
  return result;
}

}  // namespace weir::families
