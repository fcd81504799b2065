// BERT encoders (Devlin et al. 2018, arXiv:1810.04805) as transformers' BertModel computes them, its pooler left out.
#pragma once

#include <memory>

#include "families/family.h"

namespace weir::families {

/// Config of `model_type` "bert". Errors as read_architecture().
Result<std::unique_ptr<Architecture>> read_bert(const huggingface::JsonObject& config);

}  // namespace weir::families
