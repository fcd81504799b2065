// One maker per pre-tokenizer; factory.cc lists them by name.
#pragma once

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace weir::tokenizers::pre_tokenizers {

using Made = Result<std::unique_ptr<PreTokenizer>>;

Made make_bert(const json::Object& config);
Made make_byte_level(const json::Object& config);
Made make_delimiter(const json::Object& config);
Made make_digits(const json::Object& config);
Made make_metaspace(const json::Object& config);
Made make_punctuation(const json::Object& config);
Made make_sequence(const json::Object& config);
Made make_split(const json::Object& config);
Made make_whitespace(const json::Object& config);
Made make_whitespace_split(const json::Object& config);

/// Reads a string of exactly one character. kCorrupt.
Result<char32_t> read_character(const json::Object& config, std::string_view field);

/// Reads a SplitBehavior by its name. kCorrupt.
Result<SplitBehavior> read_behavior(const json::Object& config, std::string_view field);

}  // namespace weir::tokenizers::pre_tokenizers
