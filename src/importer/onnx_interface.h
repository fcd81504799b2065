// Which of an ONNX graph's inputs and outputs weir uses. Pure functions; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "bundle/bundle.h"
#include "onnx/model.h"

namespace weir::importer {

/// An output that weir can make text vectors of.
struct OutputChoice {
  std::string name;
  bundle::Output kind = bundle::Output::kTokenVectors;
};

const onnx::ValueInfo* find_value(const std::vector<onnx::ValueInfo>& values, std::string_view name);

/// kUnsupported: an input that weir cannot fill, or one that is missing. `path` is for messages.
Status check_inputs(const onnx::Model& model, const std::string& path);

/// What the graph has pooled itself is taken unless weir is to pool. kUnsupported: no output of a known name, type and
/// rank.
Result<OutputChoice> choose_output(const onnx::Model& model, const std::string& path, bool pools_itself);

/// What gives the numbers of labels: `logits`, or the only output. kNotFound: the graph has no such output;
/// kUnsupported: it is not float with `rank` axes, the last one `labels` long.
Result<std::string> choose_logits(const onnx::Model& model, const std::string& path, std::size_t rank,
                                  std::uint32_t labels);

/// Whether the graph has an output `logits`.
bool has_logits(const onnx::Model& model);

}  // namespace weir::importer
