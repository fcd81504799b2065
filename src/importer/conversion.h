// The two ways to a graph. Each writes model.onnx and model.weights into a folder and tells what the manifest needs.
// One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "huggingface/layout.h"
#include "importer/source.h"

namespace weir::importer {

struct Conversion {
  bundle::Manifest manifest;       ///< Family, output, sizes; pooling, prompts and limits from the layout.
  std::vector<std::string> files;  ///< Paths of the sources that were read.
  std::string tokenizer_path;
};

struct ConversionRequest {
  const Source* source = nullptr;
  huggingface::Overrides overrides;
  std::string folder;              ///< Where to write.
  std::string precision = "fp32";  ///< Of checkpoints only, as `packed`.
  std::string attention = "auto";  ///< As families::PackedForm, of packed graphs.
  bool packed = false;
  std::function<bool()> cancelled;
};

Result<Conversion> convert_checkpoint(const ConversionRequest& request);
Result<Conversion> convert_onnx(const ConversionRequest& request);

/// What the layout says, put into a manifest.
void apply_layout(const huggingface::Layout& layout, bundle::Manifest& manifest);

/// The tokenizer's path, or kNotFound.
Result<std::string> find_tokenizer(const std::vector<std::string>& folders, const std::string& transformer_path);

}  // namespace weir::importer
