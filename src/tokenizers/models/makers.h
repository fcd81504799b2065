// One maker per model; factory.cc lists them by name.
#pragma once

#include <array>

#include "tokenizers/models/model.h"

namespace weir::tokenizers::models {

using Made = Result<std::unique_ptr<Model>>;

Made make_bpe(const json::Object& config);
Made make_unigram(const json::Object& config);
Made make_wordlevel(const json::Object& config);
Made make_wordpiece(const json::Object& config);

/// The ids of "<0x00>" to "<0xFF>", which stand for the bytes of what a vocabulary lacks; -1 where there is none.
std::array<std::int32_t, 256> byte_token_ids(const Vocabulary& vocabulary);

/// kTokenizer: a text needs the unknown token, and the vocabulary has none.
Error missing_unknown_token(std::string_view field, std::string_view token);

}  // namespace weir::tokenizers::models
