// What a packed graph gives, made of the encoder's last hidden states:
//
//   kNone         per text, sentence_embedding [texts, hidden]: pooled, not normalized, where the pooling is one of
//                 PackedPooling; per token, the hidden states [tokens, hidden]
//   kTokenHeads   the same per text; per token, token_heads [tokens, vector dimensions + 1]
//   kTextLabels   per text, logits [texts, labels]
//   kTokenLabels  per token, logits [tokens, labels]
//   kWords        per text, word_weights [texts, vocabulary]
//   kTokenDense   per token, token_heads [tokens, channels]
//   kTextDense    per text, sentence_embedding [texts, channels]
//
// Heads are small: they are computed in fp32 whatever the encoder's precision. Only the layer from a token to all words
// of a vocabulary is not, and is of the encoder's precision.
#pragma once

#include <string>

#include "base/result.h"
#include "families/encoder.h"
#include "families/family.h"
#include "families/model_graph.h"
#include "families/packed_operators.h"

namespace weir::families {

/// kUnsupported names what is not there of the form.
Status check_packed_head(const Encoder& encoder, const PackedForm& form);

/// Adds what the form asks for, and outputs, on `hidden`, fp32 [tokens, hidden].
PackedOutputs add_packed_head(const Encoder& encoder, const PackedForm& form, PackedPrecision precision,
                              const std::string& hidden, ModelGraph& model);

}  // namespace weir::families
