// What a padded graph gives: token vectors as they are, or a head's numbers on top of them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "families/encoder.h"
#include "families/family.h"
#include "families/model_graph.h"

namespace weir::families {

/// kUnsupported when the family's head of this kind is not known.
Status check_head(const Encoder& encoder, const HeadForm& head);

/// The layer to the labels.
Linear classifier_of(const Encoder& encoder, const Head& head, std::uint32_t labels);

/// The table that the head of words multiplies with, without ".weight": a tensor of its own, or the embeddings'.
std::string word_table(const Encoder& encoder, const ModelGraph& model);

/// Adds head and output on `hidden`, [batch * sequence, hidden].
void add_head(const Encoder& encoder, const HeadForm& head, const std::string& hidden, ModelGraph& model);

}  // namespace weir::families
