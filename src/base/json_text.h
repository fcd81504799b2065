// Pieces of JSON, appended to a string. No document in between: a response is mostly numbers, and is written once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir {

/// What becomes of bytes that are not UTF-8: U+FFFD, so that what comes out is always valid JSON, or what they are, for
/// writers that check the whole.
enum class InvalidUtf8 { kReplaced, kKept };

/// In quotes, escaped.
void append_json_string(std::string& out, std::string_view text, InvalidUtf8 invalid = InvalidUtf8::kReplaced);
/// As append_json_string; an empty text as null.
void append_json_string_or_null(std::string& out, std::string_view text);
void append_json_integer(std::string& out, std::int64_t number);
/// The shortest digits that read back to the same float. JSON has no NaN and no infinity: null.
void append_json_float(std::string& out, float number);
/// "[0.1,-2.5e-05]"
void append_json_floats(std::string& out, std::span<const float> numbers);

}  // namespace weir
