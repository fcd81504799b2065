// The checks of encoder.h's inputs.
#pragma once

#include "base/result.h"
#include "kernels/encoder/encoder.h"

namespace weir::kernels {

/// See encode().
Status validate_chunk(const EncoderModel& model, const EncoderChunk& chunk, std::size_t maximum_tokens);

}  // namespace weir::kernels
