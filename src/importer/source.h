// What kind of thing the user points at. Values; no threads.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace weir::importer {

struct Source {
  enum class Kind { kCheckpoint, kOnnx };
  Kind kind = Kind::kCheckpoint;
  std::string onnx_path;             ///< For kOnnx.
  std::vector<std::string> folders;  ///< Where the model's other files may lie, the first place first.
  std::string checkpoint_folder;     ///< With config.json and weights; empty: where the layout says.
  std::string root;                  ///< What names in the bundle's lineage are relative to.
};

/// A folder with safetensors is a checkpoint, one with an .onnx file (in it or in its onnx/) an ONNX model; a
/// checkpoint wins where both are there. kNotFound: no such path, or neither in it; kInvalidArgument: several .onnx
/// files to choose from.
Result<Source> find_source(const std::string& path);

}  // namespace weir::importer
