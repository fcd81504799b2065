// An encoder as a graph of packed operators (docs/operators.md).
#pragma once

#include <string>

#include "base/result.h"
#include "families/encoder.h"
#include "families/model_graph.h"
#include "families/packed_operators.h"

namespace weir::families {

/// kUnsupported names what the packed operators do not have.
Status check_packed(const Encoder& encoder);

/// Adds inputs and encoder. Returns the last hidden states, fp32 [tokens, hidden]; packed_heads.h makes outputs of
/// them.
std::string add_packed_encoder(const Encoder& encoder, ModelGraph& model, const PackedNumbers& numbers);

}  // namespace weir::families
