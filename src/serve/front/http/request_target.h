// The target of a request line (RFC 9112, section 3.2).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::serve::front::http {

/// The path of an origin-form ("/a?b") or absolute-form ("http://host/a?b") target; other forms ("*") as they are.
std::string_view path_of_target(std::string_view target);

/// "a%2Fb" → "a/b". Empty when a '%' is not followed by two hex digits, or gives a NUL.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace weir::serve::front::http
