// Pieces of JSON, appended to a string. No document in between: a response is mostly numbers, and is written once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::serve::respond {

/// In quotes, escaped. Bytes that are not UTF-8 become U+FFFD, so that what comes out is always valid JSON.
void append_string(std::string& out, std::string_view text);
/// As append_string; an empty text as null.
void append_string_or_null(std::string& out, std::string_view text);
void append_integer(std::string& out, std::int64_t number);
/// The shortest digits that read back to the same float. JSON has no NaN and no infinity: null.
void append_float(std::string& out, float number);
/// "[0.1,-2.5e-05]"
void append_floats(std::string& out, std::span<const float> numbers);

}  // namespace weir::serve::respond
