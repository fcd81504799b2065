// Activation functions by their `hidden_act` names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onnx/graph_builder.h"

namespace weir::families {

enum class Activation { kGelu, kGeluTanh, kRelu, kSilu, kTanh };

std::optional<Activation> activation_from_name(std::string_view name);
/// All names that activation_from_name() knows, for messages.
std::string activation_names();

/// Adds the function to the graph. Returns `output`.
std::string add_activation(onnx::GraphBuilder& graph, Activation activation, const std::string& input,
                           const std::string& output);

}  // namespace weir::families
