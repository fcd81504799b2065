// UTF-8: checking text, and walking text that is known to be valid. base/utf8.h repairs what is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::tokenizers::unicode {

inline constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t code_point = 0;
  std::uint32_t length = 0;  ///< In bytes.
};

/// How many bytes the character has that begins with `lead`, in valid UTF-8.
inline std::uint32_t length_from_lead(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

inline bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The character at `text[at]`. The text is valid and `at` is where a character begins.
inline Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

/// The character that ends before `text[end]`, `end` > 0. The text is valid.
inline Decoded decode_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (is_continuation(text[at])) --at;
  return decode(text, at);
}

/// Writes `code_point` to `out`, which has room for 4 bytes; how many it took.
inline std::uint32_t encode(char32_t code_point, char* out) {
  const auto put = [&](int i, char32_t value) { out[i] = static_cast<char>(value); };
  if (code_point < 0x80) return put(0, code_point), 1;
  if (code_point < 0x800) return put(0, 0xC0 | code_point >> 6), put(1, 0x80 | (code_point & 0x3F)), 2;
  if (code_point < 0x10000) {
    put(0, 0xE0 | code_point >> 12);
    put(1, 0x80 | (code_point >> 6 & 0x3F));
    put(2, 0x80 | (code_point & 0x3F));
    return 3;
  }
  put(0, 0xF0 | code_point >> 18);
  put(1, 0x80 | (code_point >> 12 & 0x3F));
  put(2, 0x80 | (code_point >> 6 & 0x3F));
  put(3, 0x80 | (code_point & 0x3F));
  return 4;
}

inline void append(std::string& text, char32_t code_point) {
  char bytes[4];
  text.append(bytes, encode(code_point, bytes));
}

/// How many code points valid text has.
std::size_t count_code_points(std::string_view text);

bool is_valid(std::string_view text);

}  // namespace weir::tokenizers::unicode
