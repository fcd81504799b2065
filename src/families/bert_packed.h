// BERT encoders as graphs of packed operators (docs/operators.md).
#pragma once

#include "families/bert_config.h"
#include "families/family.h"

namespace weir::families {

/// Errors as Architecture::build_packed().
Status build_packed_bert(const BertConfig& config, Weights& weights, onnx::GraphBuilder& graph, const PackedForm& form);

}  // namespace weir::families
