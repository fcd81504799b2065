// One maker per normalizer; factory.cc lists them by name.
#pragma once

#include "tokenizers/normalizers/normalizer.h"

namespace weir::tokenizers::normalizers {

using Made = Result<std::unique_ptr<Normalizer>>;

Made make_bert(const json::Object& config);

}  // namespace weir::tokenizers::normalizers
