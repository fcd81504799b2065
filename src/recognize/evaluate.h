// What an output of a graph means, found node by node with the sample inputs. One thread.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "onnx/graph.h"
#include "recognize/call.h"

namespace weir::recognize {

enum class Input { kIds, kMask, kTypes };

/// By the inputs' names in the graph.
using Inputs = std::map<std::string, Input, std::less<>>;

/// Nodes that the output does not depend on are not looked at. The value is Unknown where a node stopped the search;
/// the first in the order of computation is named. kCorrupt: the graph has a circle; kUnsupported: it has too many
/// nodes. `meanings` must outlive the value.
Result<Value> evaluate(const onnx::Graph& graph, const Inputs& inputs, const std::string& output, Meanings& meanings);

}  // namespace weir::recognize
