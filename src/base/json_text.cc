#include "base/json_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace weir {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes of the valid UTF-8 sequence that starts at `text[0]`, which is not ASCII; 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond_unicode = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

void append_ascii(std::string& out, char c) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out.append("\\\"");
      return;
    case '\\':
      out.append("\\\\");
      return;
    case '\n':
      out.append("\\n");
      return;
    case '\r':
      out.append("\\r");
      return;
    case '\t':
      out.append("\\t");
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code >= 0x20 && code != 0x7F) {
    out.push_back(c);
  } else {
    out.append("\\u00").append(1, kHex[code >> 4]).append(1, kHex[code & 15]);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, InvalidUtf8 invalid) {
  out.push_back('"');
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) >= 0x80 && invalid == InvalidUtf8::kKept) {
      out.push_back(text[i++]);
      continue;
    }
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      append_ascii(out, text[i]);
      ++i;
      continue;
    }
    const std::size_t length = sequence_length(text.substr(i));
    out.append(length > 0 ? text.substr(i, length) : kReplacement);
    i += length > 0 ? length : 1;
  }
  out.push_back('"');
}

void append_json_string_or_null(std::string& out, std::string_view text) {
  if (text.empty()) {
    out.append("null");
  } else {
    append_json_string(out, text);
  }
}

void append_json_integer(std::string& out, std::int64_t number) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_json_float(std::string& out, float number) {
  if (!std::isfinite(number)) {
    out.append("null");
    return;
  }
  std::array<char, 32> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_json_floats(std::string& out, std::span<const float> numbers) {
  out.push_back('[');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_json_float(out, numbers[i]);
  }
  out.push_back(']');
}

}  // namespace weir
