// One maker per normalizer; factory.cc lists them by name.
#pragma once

#include <vector>

#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/normalization.h"

namespace weir::tokenizers::normalizers {

using Made = Result<std::unique_ptr<Normalizer>>;

Made make_bert(const json::Object& config);
Made make_byte_level(const json::Object& config);
Made make_lowercase(const json::Object& config);
Made make_nfc(const json::Object& config);
Made make_nfd(const json::Object& config);
Made make_nfkc(const json::Object& config);
Made make_nfkd(const json::Object& config);
Made make_nmt(const json::Object& config);
Made make_precompiled(const json::Object& config);
Made make_prepend(const json::Object& config);
Made make_replace(const json::Object& config);
Made make_sequence(const json::Object& config);
Made make_strip(const json::Object& config);
Made make_strip_accents(const json::Object& config);

/// Appends what `changes` make of `in`.
void apply(const std::vector<unicode::Change>& changes, const Segment& in, Text& out);

}  // namespace weir::tokenizers::normalizers
