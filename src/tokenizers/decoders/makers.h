// One maker per decoder; factory.cc lists them by name.
#pragma once

#include "tokenizers/decoders/decoder.h"

namespace weir::tokenizers::decoders {

using Made = Result<std::unique_ptr<Decoder>>;

Made make_bpe(const json::Object& config);
Made make_byte_fallback(const json::Object& config);
Made make_byte_level(const json::Object& config);
Made make_ctc(const json::Object& config);
Made make_fuse(const json::Object& config);
Made make_metaspace(const json::Object& config);
Made make_replace(const json::Object& config);
Made make_sequence(const json::Object& config);
Made make_strip(const json::Object& config);
Made make_wordpiece(const json::Object& config);

/// Every `from` in `text` becomes `to`, from the left, without overlap. `from` is not empty.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Takes back what tokenization did to English: blanks before punctuation, split contractions.
void clean_up(std::string& text);

/// Reads a string of exactly one character, as UTF-8. kCorrupt.
Result<std::string> read_character(const json::Object& config, std::string_view field);

}  // namespace weir::tokenizers::decoders
