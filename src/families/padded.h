// An encoder as a graph of standard operators on padded batches, fp32. docs/decisions/0020-engine-graph.md has the
// form and the measurements behind it.
#pragma once

#include "families/encoder.h"
#include "families/model_graph.h"

namespace weir::families {

/// Adds inputs and encoder. Returns the last hidden states, [batch * sequence, hidden].
std::string add_padded_encoder(const Encoder& encoder, ModelGraph& model);

/// [batch * sequence, width] as [batch, sequence, width].
std::string add_batch_axis(ModelGraph& model, const std::string& input, std::uint64_t width, const std::string& output);

}  // namespace weir::families
