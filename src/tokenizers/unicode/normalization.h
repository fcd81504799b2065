// The Unicode normalization forms, with alignment: each character of the result says whether it takes the place of a
// character of the input or is added behind one. The data are those of the `tokenizers` library (Unicode 9).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::tokenizers::unicode {

enum class Form { kNfc, kNfd, kNfkc, kNfkd };

/// A character of the result. `change` is 0 when it takes the place of the next character of the input, 1 when it is
/// added behind the last one, and -n when it takes the place of the next one and the n after it are removed.
struct Change {
  char32_t code_point = 0;
  std::int32_t change = 0;
};

/// Appends the normalized form of valid UTF-8 to `out`.
void normalize(Form form, std::string_view text, std::vector<Change>& out);

/// Whether NFC certainly leaves valid UTF-8 as it is. False where only composing it would tell.
bool is_nfc(std::string_view text);

/// Calls emit(code_point) for each character of the full decomposition of `code_point`; Hangul included.
template <class Emit>
void decompose(char32_t code_point, bool compatible, Emit emit);

/// The canonical decomposition of a Hangul syllable, or a length of 0 when it is none.
struct HangulParts {
  char32_t parts[3] = {};
  int length = 0;
};
inline HangulParts decompose_hangul(char32_t code_point) {
  constexpr char32_t kBase = 0xAC00;
  constexpr char32_t kTrailCount = 28;
  constexpr char32_t kVowelTrailCount = 21 * kTrailCount;
  const char32_t index = code_point - kBase;
  HangulParts result;
  if (index >= 19 * kVowelTrailCount) return result;
  result.parts[0] = 0x1100 + index / kVowelTrailCount;
  result.parts[1] = 0x1161 + index % kVowelTrailCount / kTrailCount;
  result.parts[2] = 0x11A7 + index % kTrailCount;
  result.length = index % kTrailCount == 0 ? 2 : 3;
  return result;
}

}  // namespace weir::tokenizers::unicode

#include "tokenizers/unicode/properties.h"

namespace weir::tokenizers::unicode {

template <class Emit>
void decompose(char32_t code_point, bool compatible, Emit emit) {
  const Properties& table = properties();
  const CodePoint& point = table[code_point];
  const std::uint16_t index = compatible && point.compatible != 0 ? point.compatible : point.canonical;
  if (index != 0) {
    for (const char32_t part : table.mapping(index)) emit(part);
    return;
  }
  const HangulParts hangul = decompose_hangul(code_point);
  if (hangul.length == 0) return emit(code_point);
  for (int i = 0; i < hangul.length; ++i) emit(hangul.parts[i]);
}

}  // namespace weir::tokenizers::unicode
