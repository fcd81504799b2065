// An encoder as a graph of packed operators (docs/operators.md).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "families/encoder.h"
#include "families/model_graph.h"
#include "families/packed_operators.h"

namespace weir::families {

/// kUnsupported names what the packed operators do not have. `unattended` as PackedForm::unattended_tokens.
Status check_packed(const Encoder& encoder, std::uint32_t unattended);

/// Adds inputs, `has_keys` says whether kKeys is one of them, and encoder. Returns the last hidden states, fp32
/// [tokens, hidden]; packed_heads.h makes outputs of them.
std::string add_packed_encoder(const Encoder& encoder, ModelGraph& model, const PackedNumbers& numbers, bool has_keys);

}  // namespace weir::families
