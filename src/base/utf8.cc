#include "base/utf8.h"

#include <algorithm>

namespace weir {
namespace {

/// What may follow a lead byte: the length of the sequence and the range of its second byte (table 3-7 of the
/// standard).
struct Lead {
  std::size_t length = 0;
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

/// Bytes of the longest prefix of `text` that could begin a valid sequence, up to the whole sequence.
std::size_t matching_bytes(std::string_view text, const Lead& lead) {
  const std::size_t end = std::min(lead.length, text.size());
  for (std::size_t i = 1; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char low = i == 1 ? lead.second_min : 0x80;
    const unsigned char high = i == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) return i;
  }
  return end;
}

}  // namespace

std::size_t valid_utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  return lead.length != 0 && matching_bytes(text, lead) == lead.length ? lead.length : 0;
}

std::size_t invalid_utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  return lead.length == 0 ? 1 : matching_bytes(text, lead);
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t valid = valid_utf8_length(text);
    if (valid != 0) {
      out.append(text.substr(0, valid));
      text.remove_prefix(valid);
    } else {
      out.append("\xEF\xBF\xBD");
      text.remove_prefix(invalid_utf8_length(text));
    }
  }
  return out;
}

std::string_view cut_utf8(std::string_view text, std::size_t limit_bytes) {
  if (text.size() <= limit_bytes) return text;
  std::size_t end = limit_bytes;
  // At most three continuation bytes belong to a sequence; more of them are invalid and may be cut anywhere.
  for (int i = 0; i < 3 && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; ++i) --end;
  return text.substr(0, end);
}

}  // namespace weir
