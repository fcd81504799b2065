// What the sources of this folder share about the ONNX schema. Not for other folders: it includes the generated
// classes.
#pragma once

#include <string>

#include <onnx/onnx-ml.pb.h>

#include "base/result.h"
#include "onnx/weights_file.h"

namespace weir::onnx {

/// Protobuf's own limit, less room for what is around a message.
inline constexpr std::uint64_t kMaxModelBytes = (std::uint64_t{1} << 31) - 4096;

/// Makes `tensor` refer to bytes of the weights file `file`, in place of those it holds.
void refer_to(::onnx::TensorProto& tensor, const std::string& file, const Location& location);

/// kIo; kInternal when the model is too large for one file.
Status save_model(const ::onnx::ModelProto& model, const std::string& path);

}  // namespace weir::onnx
