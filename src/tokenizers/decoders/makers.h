// One maker per decoder; factory.cc lists them by name.
#pragma once

#include "tokenizers/decoders/decoder.h"

namespace weir::tokenizers::decoders {

using Made = Result<std::unique_ptr<Decoder>>;

Made make_wordpiece(const json::Object& config);

/// Every `from` in `text` becomes `to`, from the left, without overlap. `from` is not empty.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Takes back what tokenization did to English: blanks before punctuation, split contractions.
void clean_up(std::string& text);

}  // namespace weir::tokenizers::decoders
