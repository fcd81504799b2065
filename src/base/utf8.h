// Repair of text that leaves the program in a format that allows only valid UTF-8 (JSON log lines, metric labels).
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

/// How many bytes the valid UTF-8 sequence at the start of `text` has (1 to 4); 0 when there is none, and also when
/// `text` is empty. Overlong forms, surrogates and code points above U+10FFFF are not valid.
std::size_t valid_utf8_length(std::string_view text);

/// Each maximal invalid part becomes U+FFFD (the Unicode standard, section 3.9).
std::string replace_invalid_utf8(std::string_view text);

/// `text` without its bytes from `limit_bytes` on, cut before a started sequence.
std::string_view cut_utf8(std::string_view text, std::size_t limit_bytes);

/// How many bytes an invalid part at the start of `text` has: at least 1 when `text` is not empty.
std::size_t invalid_utf8_length(std::string_view text);

}  // namespace weir
