// What a packed graph gives: outputs per text, or per token, made of the encoder's last hidden states.
#pragma once

#include <string>

#include "base/result.h"
#include "families/encoder.h"
#include "families/family.h"
#include "families/model_graph.h"

namespace weir::families {

/// kUnsupported names what the packed operators do not have of the form.
Status check_packed_head(const Encoder& encoder, const PackedForm& form);

/// Adds what the form asks for, and outputs, on `hidden`, fp32 [tokens, hidden].
void add_packed_head(const Encoder& encoder, const PackedForm& form, const std::string& hidden, ModelGraph& model);

}  // namespace weir::families
