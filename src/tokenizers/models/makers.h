// One maker per model; factory.cc lists them by name.
#pragma once

#include "tokenizers/models/model.h"

namespace weir::tokenizers::models {

using Made = Result<std::unique_ptr<Model>>;

Made make_wordpiece(const json::Object& config);

}  // namespace weir::tokenizers::models
