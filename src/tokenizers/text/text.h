// Text on its way through the normalizers: its bytes now, and for each byte the part of the original text that it came
// from. The alignment follows the `tokenizers` library: a character that replaces another takes its place; one that is
// added takes the place of the one before it; one that is removed leaves nothing.
//
// Plain values, reused from call to call so that no byte costs an allocation. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers {

/// A part of the original text, in bytes: [begin, end).
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

/// No step of the tokenization takes a text longer than this, so that places fit 32 bits whatever a step makes of it,
/// and a file with many steps that lengthen cannot fill the memory.
inline constexpr std::size_t kLongestText = std::size_t{1} << 25;

/// What a step failed at.
enum class Trouble : std::uint8_t { kNone, kTooLong, kPattern };

/// What a normalizer reads: a part of a text that lies between two added tokens.
struct Segment {
  std::string_view bytes;
  const Span* spans = nullptr;  ///< One per byte; null when the caller wants no offsets.
  std::uint32_t origin = 0;     ///< Where the segment begins in the original text.

  bool aligned() const { return spans != nullptr; }
};

struct Text {
  std::string bytes;
  std::vector<Span> spans;  ///< One per byte; empty unless `aligned`.
  bool aligned = false;
  Trouble trouble = Trouble::kNone;  ///< The first; the text is then worth nothing.

  void reset(bool keep_spans) {
    bytes.clear();
    spans.clear();
    aligned = keep_spans;
    trouble = Trouble::kNone;
  }
  void fail(Trouble what) {
    if (trouble == Trouble::kNone) trouble = what;
  }
  /// Whether the next step may take it.
  bool is_usable() {
    if (bytes.size() > kLongestText) fail(Trouble::kTooLong);
    return trouble == Trouble::kNone;
  }
  std::string_view view(std::uint32_t begin, std::uint32_t end) const {
    return std::string_view(bytes).substr(begin, end - begin);
  }
  Segment segment(std::uint32_t begin, std::uint32_t end, std::uint32_t origin) const {
    return {view(begin, end), aligned ? spans.data() + begin : nullptr, origin};
  }
  Segment whole(std::uint32_t origin) const { return segment(0, static_cast<std::uint32_t>(bytes.size()), origin); }

  /// Appends characters that all came from `span`.
  void append(std::string_view characters, Span span) {
    bytes.append(characters);
    if (aligned) spans.insert(spans.end(), characters.size(), span);
  }
  void append(char32_t code_point, Span span) {
    char characters[4];
    append(std::string_view(characters, unicode::encode(code_point, characters)), span);
  }
  /// Appends bytes [begin, end) of `from` as they are.
  void copy(const Segment& from, std::size_t begin, std::size_t end) {
    bytes.append(from.bytes.substr(begin, end - begin));
    if (aligned) spans.insert(spans.end(), from.spans + begin, from.spans + end);
  }
  /// Appends valid UTF-8 that stands in the original text at `origin`.
  void append_original(std::string_view characters, std::uint32_t origin);
};

/// Appends to `out` while reading `in` from the front, and keeps the alignment as the library does. Each call is one
/// character of the result.
class Rewriter {
 public:
  Rewriter(const Segment& in, Text& out) : in_(in), out_(out) {}

  /// `code_point` takes the place of the next character of the input; then `removed` more characters are left out.
  void replace(char32_t code_point, std::uint32_t removed = 0) {
    out_.append(code_point, in_.aligned() && at_ < in_.bytes.size() ? in_.spans[at_] : Span{});
    skip(1 + removed);
  }
  /// `code_point` is added behind what has been read.
  void add(char32_t code_point) { out_.append(code_point, before()); }
  void skip(std::uint32_t characters) {
    for (; characters > 0 && at_ < in_.bytes.size(); --characters) {
      at_ += unicode::length_from_lead(static_cast<unsigned char>(in_.bytes[at_]));
    }
  }
  /// Where the next character of the input is.
  std::size_t at() const { return at_; }

 private:
  Span before() const {
    if (!in_.aligned()) return {};
    return at_ == 0 ? Span{in_.origin, in_.origin} : in_.spans[at_ - 1];
  }

  const Segment& in_;
  Text& out_;
  std::size_t at_ = 0;
};

}  // namespace weir::tokenizers
