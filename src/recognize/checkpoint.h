// An encoder written as a checkpoint: config.json and model.safetensors, from which families make graphs.
//
// One thread. Tensor by tensor, so that one weight at a time is in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "recognize/encoder.h"

namespace weir::recognize {

/// `folder` must exist. kIo; kCancelled.
Status write_checkpoint(const Encoder& encoder, std::uint32_t pad_token_id, const std::string& folder,
                        const std::function<bool()>& cancelled);

}  // namespace weir::recognize
