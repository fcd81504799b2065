// An encoder as a graph of packed operators (docs/operators.md).
#pragma once

#include "base/result.h"
#include "families/encoder.h"
#include "families/family.h"
#include "families/model_graph.h"

namespace weir::families {

/// kUnsupported names what the packed operators do not have, of the encoder or of the form.
Status check_packed(const Encoder& encoder, const PackedForm& form);

/// Adds inputs, encoder, pooling and output.
void add_packed_encoder(const Encoder& encoder, ModelGraph& model, const PackedForm& form);

}  // namespace weir::families
