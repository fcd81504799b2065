#include "recognize/recognize.h"

#include <algorithm>

#include "recognize/call.h"
#include "recognize/evaluate.h"

namespace weir::recognize {
namespace {

Inputs inputs_of(const onnx::Model& model) {
  Inputs inputs;
  for (const onnx::ValueInfo& input : model.inputs()) {
    if (input.name == "input_ids") inputs.emplace(input.name, Input::kIds);
    if (input.name == "attention_mask") inputs.emplace(input.name, Input::kMask);
    if (input.name == "token_type_ids") inputs.emplace(input.name, Input::kTypes);
  }
  return inputs;
}

bool has_tensor(const onnx::Graph& graph, bool (*wanted)(onnx::DataType)) {
  return std::any_of(graph.initializers.begin(), graph.initializers.end(),
                     [&](const auto& entry) { return wanted(entry.second.type); });
}

bool is_half(onnx::DataType type) { return type == DataType::kFloat16 || type == DataType::kBFloat16; }

Rounding rounding_of(const onnx::Graph& graph) {
  Rounding found = Rounding::kNone;
  for (const onnx::GraphNode& node : graph.nodes) {
    const std::string& op = node.op;
    const bool is_dynamic = op.starts_with("Dynamic") || op.find("Integer") != std::string::npos || op == "QAttention";
    const bool is_static = op.starts_with("QLinear") || op == "QGemm";
    const bool is_quantized = is_dynamic || is_static || op.ends_with("uantizeLinear") || op.starts_with("QEmbed");
    if (is_static) return Rounding::kStatic;
    if (is_dynamic) found = Rounding::kDynamic;
    if (is_quantized && found == Rounding::kNone) found = Rounding::kPairs;
  }
  return found;
}

}  // namespace

Result<Recognized> recognize(const onnx::Model& model, const std::string& output) {
  const auto graph = std::make_shared<const onnx::Graph>(model.graph());
  Meanings meanings;
  const Inputs inputs = inputs_of(model);
  WEIR_ASSIGN_OR_RETURN(const Value value, evaluate(*graph, inputs, output, meanings));
  Recognized result;
  WEIR_ASSIGN_OR_RETURN(result.encoder, read_encoder(value));
  result.is_half = has_tensor(*graph, is_half);
  result.rounding = rounding_of(*graph);
  result.graph = graph;
  return result;
}

}  // namespace weir::recognize
