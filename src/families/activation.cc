#include "families/activation.h"

#include <array>

namespace weir::families {
namespace {

struct Row {
  std::string_view name;
  Activation activation;
};

constexpr std::array<Row, 7> kRows = {{
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"tanh", Activation::kTanh},
}};

}  // namespace

std::optional<Activation> activation_from_name(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.activation;
  }
  return std::nullopt;
}

std::string activation_names() {
  std::string names;
  for (const Row& row : kRows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

std::string add_activation(onnx::GraphBuilder& graph, Activation activation, const std::string& input,
                           const std::string& output) {
  switch (activation) {
    case Activation::kGelu:
      return graph.node("Gelu", {input}, output);
    case Activation::kGeluTanh:
      return graph.node("Gelu", {input}, output, {{"approximate", std::string("tanh")}});
    case Activation::kRelu:
      return graph.node("Relu", {input}, output);
    case Activation::kSilu: {
      const std::string gate = graph.node("Sigmoid", {input}, output + ".gate");
      return graph.node("Mul", {input, gate}, output);
    }
    case Activation::kTanh:
      return graph.node("Tanh", {input}, output);
  }
  return input;
}

}  // namespace weir::families
