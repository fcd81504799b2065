// One reader per family: a config.json of its `model_type`, checked, as an Architecture. Errors as
// read_architecture(). The file of the same name says which tensors, which graph and which quirks.
#pragma once

#include "families/family.h"

namespace weir::families {

Result<Architecture> read_albert(const huggingface::JsonObject& config);
Result<Architecture> read_bert(const huggingface::JsonObject& config);
Result<Architecture> read_deberta_v2(const huggingface::JsonObject& config);
Result<Architecture> read_distilbert(const huggingface::JsonObject& config);
Result<Architecture> read_electra(const huggingface::JsonObject& config);
Result<Architecture> read_gte(const huggingface::JsonObject& config);
Result<Architecture> read_jina_bert(const huggingface::JsonObject& config);
Result<Architecture> read_modernbert(const huggingface::JsonObject& config);
Result<Architecture> read_mpnet(const huggingface::JsonObject& config);
Result<Architecture> read_nomic_bert(const huggingface::JsonObject& config);
Result<Architecture> read_roberta(const huggingface::JsonObject& config);

}  // namespace weir::families
