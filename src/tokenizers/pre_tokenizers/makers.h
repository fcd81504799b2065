// One maker per pre-tokenizer; factory.cc lists them by name.
#pragma once

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace weir::tokenizers::pre_tokenizers {

using Made = Result<std::unique_ptr<PreTokenizer>>;

Made make_bert(const json::Object& config);

}  // namespace weir::tokenizers::pre_tokenizers
