#include "families/packed_operators.h"

#include <iterator>

#include "packed_weights/linear.h"

namespace weir::families {
namespace {

/// What the parts of a precision are called: in settings and attributes, and in operators.
struct Names {
  const char* precision;
  const char* op;
  const char* word_weights;
};
constexpr Names kNames[] = {{"fp32", "LinearF32", "WordWeightsF32"},
                            {"bf16", "LinearBf16", "WordWeightsBf16"},
                            {"int8", "LinearQ8", "WordWeightsQ8"}};

const Names& names_of(PackedPrecision precision) { return kNames[static_cast<std::size_t>(precision)]; }

}  // namespace

Result<PackedPrecision> read_packed_precision(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i].precision) return static_cast<PackedPrecision>(i);
  }
  return Error(ErrorKind::kUnsupported, "packed graphs in " + name + " are not supported; weir has fp32, bf16 and int8",
               "--precision");
}

const char* packed_activation_name(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return "gelu_erf";
    case Activation::kGeluTanh:
      return "gelu_tanh";
    case Activation::kRelu:
      return "relu";
    case Activation::kSilu:
      return "silu";
    case Activation::kTanh:
      return "tanh";
  }
  return "none";
}

Result<PackedNumbers> read_packed_numbers(const std::string& precision, const std::string& attention) {
  WEIR_ASSIGN_OR_RETURN(const PackedPrecision layers, read_packed_precision(precision));
  if (attention == "auto") return PackedNumbers{layers, names_of(layers).precision};
  for (const Names& names : kNames) {
    if (attention == names.precision) return PackedNumbers{layers, attention};
  }
  return Error(ErrorKind::kInvalidArgument, "--attention: '" + attention + "' is none of auto, fp32, bf16 and int8",
               "--attention");
}

std::string PackedOperators::op(const char* end) const { return std::string(names_of(precision_).op) + end; }

PackedRows PackedOperators::rows(const std::string& name) const {
  PackedRows rows{name, {}, {}};
  if (precision_ != PackedPrecision::kFp32) rows.narrow = name + ".rows";
  if (precision_ == PackedPrecision::kInt8) rows.scales = name + ".scales";
  return rows;
}

/// The attribute "rows".
std::string PackedOperators::attribute(PackedWanted wanted) const {
  return names_of(wanted == PackedWanted::kValues ? PackedPrecision::kFp32 : precision_).precision;
}

std::vector<std::string> PackedOperators::outputs(const PackedRows& rows, PackedWanted wanted) const {
  if (wanted == PackedWanted::kValues) return {rows.values};
  const std::string values = wanted == PackedWanted::kBoth ? rows.values : std::string();
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
  all.emplace_back("rows", attribute(PackedWanted::kBoth));
  graph_.weir_node("PackedEmbedding", inputs, outputs(result, PackedWanted::kBoth), all);
  return result;
}

std::string PackedOperators::linear(const std::string& name, const PackedRows& input, const std::string& weights,
                                    const std::string& residual) {
  std::vector<std::string> more = {weights};
  if (!residual.empty()) more.push_back(residual);
  graph_.weir_node(op(""), inputs(input, more), {name},
                   {{"activation", std::string("none")}, {"rows", attribute(PackedWanted::kValues)}});
  return name;
}

std::string PackedOperators::attention_inputs(const std::string& name, const PackedRows& input,
                                              const std::string& weights) {
  if (precision_ == PackedPrecision::kFp32) return linear(name, input, weights);
  graph_.weir_node(op(""), inputs(input, {weights}), {"", "", "", name},
                   {{"activation", std::string("none")}, {"rows", std::string("bf16")}});
  return name;
}

PackedRows PackedOperators::linear(const std::string& name, const PackedRows& input, const std::string& weights,
                                   const std::string& activation, PackedWanted wanted) {
  const PackedRows result = rows(name);
  graph_.weir_node(op(""), inputs(input, {weights}), outputs(result, wanted),
                   {{"activation", activation}, {"rows", attribute(wanted)}});
  return result;
}

PackedRows PackedOperators::residual_norm(const std::string& name, const PackedRows& input, const ResidualNorm& step) {
  const PackedRows result = rows(name);
  graph_.weir_node(op("ResidualNorm"), inputs(input, {step.weights, step.residual, step.norm.gamma, step.norm.beta}),
                   outputs(result, step.wanted), {{"epsilon", step.norm.epsilon}, {"rows", attribute(step.wanted)}});
  return result;
}

void PackedOperators::word_weights(const std::string& name, const std::string& values, const std::string& offsets,
                                   const std::string& weights) {
  graph_.weir_node(names_of(precision_).word_weights, {values, offsets, weights}, {name});
}

PackedRows PackedOperators::layer_norm(const std::string& name, const LayerNorm& step) {
  const PackedRows result = rows(name);
  graph_.weir_node("PackedLayerNorm", {step.values, step.residual, step.norm.gamma, step.norm.beta},
                   outputs(result, step.wanted), {{"epsilon", step.norm.epsilon}, {"rows", attribute(step.wanted)}});
  return result;
}

PackedRows PackedOperators::neighbors(const std::string& name, const std::string& values, const std::string& offsets,
                                      std::uint32_t width) {
  const PackedRows result = rows(name);
  graph_.weir_node("PackedNeighbors", {values, offsets}, outputs(result, PackedWanted::kRows),
                   {{"width", std::int64_t{width}}, {"rows", attribute(PackedWanted::kRows)}});
  return result;
}

PackedRows PackedOperators::attention(const std::string& name, const Attention& node) {
  const PackedRows result = rows(name);
  std::vector<std::string> inputs = {node.query_key_value,  node.offsets,       node.relative_bias,
                                     node.alibi_slopes,     node.rotary_cos,    node.rotary_sin,
                                     node.window,           node.position_keys, node.position_queries,
                                     node.position_buckets, node.keys};
  while (inputs.back().empty()) inputs.pop_back();
  graph_.weir_node("PackedAttention", inputs, outputs(result, PackedWanted::kRows),
                   {{"heads", static_cast<std::int64_t>(node.heads)},
                    {"head_size", static_cast<std::int64_t>(node.head_size)},
                    {"scale", node.scale},
                    {"precision", attention_precision_},
                    {"rows", attribute(PackedWanted::kRows)}});
  return result;
}

}  // namespace weir::families
