// The tensors of a model folder in whichever form it has them: safetensors, else PyTorch's pytorch_model.bin.
#pragma once

#include <string>

#include "base/result.h"
#include "safetensors/checkpoint.h"

namespace weir::torch_file {

inline constexpr const char* kModelFile = "pytorch_model.bin";

/// As safetensors::Checkpoint::open() where the folder has safetensors, else as File::open().
Result<safetensors::Checkpoint> open_checkpoint(const std::string& folder);

}  // namespace weir::torch_file
