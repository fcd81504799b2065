// An encoder as a graph of packed operators (docs/operators.md).
#pragma once

#include "base/result.h"
#include "families/encoder.h"
#include "families/family.h"
#include "families/model_graph.h"
#include "families/packed_operators.h"

namespace weir::families {

/// The form's precision. kUnsupported names what the packed operators do not have, of the encoder or of the form.
Result<PackedPrecision> check_packed(const Encoder& encoder, const PackedForm& form);

/// Adds inputs, encoder, pooling and output.
void add_packed_encoder(const Encoder& encoder, ModelGraph& model, PackedPrecision precision,
                        const std::string& pooling);

}  // namespace weir::families
