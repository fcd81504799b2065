// What a tokenizer asks of a code point: classes, lower case, decompositions. The answers are those of the `tokenizers`
// library (see docs/decisions/0010-unicode-tables.md), not of the machine's ICU, so that ids are the same everywhere.
//
// The tables are unpacked once, at the first call of properties(); after that reading is lock-free from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::tokenizers::unicode {

/// Classes as bits of CodePoint::classes.
enum Class : std::uint16_t {
  kWhitespace = 1 << 0,      ///< Unicode White_Space.
  kControl = 1 << 1,         ///< General category C, but for tab, line feed and carriage return.
  kNonspacingMark = 1 << 2,  ///< Mn.
  kCombiningMark = 1 << 3,   ///< M.
  kWord = 1 << 4,            ///< \w of Rust's regex.
  kPunctuation = 1 << 5,     ///< P, and every ASCII symbol.
  kNumeric = 1 << 6,         ///< N, as Rust knows it.
  kLetter = 1 << 7,          ///< \p{L} of the library's regular expressions.
  kNumber = 1 << 8,          ///< \p{N} of the library's regular expressions.
  kRegexSpace = 1 << 9,      ///< \s of the library's regular expressions.
  kChinese = 1 << 10,        ///< BERT's notion of a Chinese character.
  kNfcUnstable = 1 << 11,    ///< NFC may replace it, move it or join it to what stands before it.
};

struct CodePoint {
  std::uint16_t classes = 0;
  std::uint8_t combining_class = 0;
  std::uint16_t lower = 0;       ///< For Properties::mapping; 0: itself.
  std::uint16_t canonical = 0;   ///< For Properties::mapping; 0: itself. Hangul syllables are not listed.
  std::uint16_t compatible = 0;  ///< For Properties::mapping; 0: as `canonical`.
  bool operator==(const CodePoint&) const = default;
};

class Properties {
 public:
  const CodePoint& operator[](char32_t code_point) const {
    return points_[static_cast<std::size_t>(blocks_[code_point >> 8]) << 8 | (code_point & 0xFF)];
  }
  bool has(char32_t code_point, unsigned classes) const { return ((*this)[code_point].classes & classes) != 0; }

  /// The code points behind an index from CodePoint that is not 0.
  std::span<const char32_t> mapping(std::uint16_t index) const {
    return {mapped_.data() + offsets_[index], offsets_[index + 1u] - offsets_[index]};
  }

  /// The canonical composition of two code points (Hangul included), or 0.
  char32_t compose(char32_t first, char32_t second) const;

 private:
  friend const Properties& properties();
  friend class PropertiesBuilder;
  Properties() = default;

  std::array<std::uint16_t, 0x1100> blocks_{};  ///< Code point / 256 → block of 256 points.
  std::vector<CodePoint> points_;
  std::vector<std::uint32_t> offsets_;  ///< Into mapped_, one more than there are mappings.
  std::vector<char32_t> mapped_;
};

const Properties& properties();

}  // namespace weir::tokenizers::unicode
