// How a Model makes a Graph. Not for other folders: it includes the generated classes.
#pragma once

#include <string>

#include "onnx/external_data.h"
#include "onnx/graph.h"
#include "onnx/proto.h"

namespace weir::onnx {

/// `name` is for messages; external data is looked for in `folder`. The tensors point into `model`.
Graph read_graph(const ::onnx::ModelProto& model, const std::string& name, const std::string& folder);

}  // namespace weir::onnx
