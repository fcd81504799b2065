// Regular expressions of tokenizer.json files are written for Oniguruma, in its Ruby syntax; ICU reads a language that
// is nearly the same. This folder's Pattern has them rewritten for ICU first. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::tokenizers {

/// `regex` as ICU must be told it: character classes as sets of what they hold in Oniguruma (unicode/regex_classes.h),
/// (?m) for what ICU calls (?s), and so on. A \p{name} that the tables do not have stays ICU's. kUnsupported: an escape
/// that ICU would take for something else (`path` and the escape are named).
Result<std::string> icu_from_oniguruma(std::string_view regex, const std::string& path);

}  // namespace weir::tokenizers
