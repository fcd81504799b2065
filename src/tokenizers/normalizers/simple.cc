// The normalizers that look at one character at a time: Lowercase, StripAccents, Nmt, Strip, Prepend, ByteLevel.
#include "tokenizers/normalizers/makers.h"
#include "tokenizers/text/byte_level.h"
#include "tokenizers/unicode/properties.h"

namespace weir::tokenizers::normalizers {
namespace {

using unicode::Properties;
using unicode::properties;

/// Calls `each(code_point, begin, end, span)` for the characters of `in`.
template <class Each>
void for_each_character(const Segment& in, Each each) {
  for (std::size_t at = 0; at < in.bytes.size();) {
    const unicode::Decoded character = unicode::decode(in.bytes, at);
    each(character.code_point, at, at + character.length, in.aligned() ? in.spans[at] : Span{});
    at += character.length;
  }
}

class Lowercase final : public Normalizer {
 public:
  void normalize(const Segment& in, Text& out) const override {
    const Properties& table = properties();
    for_each_character(in, [&](char32_t c, std::size_t, std::size_t, Span span) {
      const std::uint16_t lower = table[c].lower;
      if (lower == 0) return out.append(c, span);
      for (const char32_t mapped : table.mapping(lower)) out.append(mapped, span);
    });
  }
};

class StripAccents final : public Normalizer {
 public:
  void normalize(const Segment& in, Text& out) const override {
    const Properties& table = properties();
    for_each_character(in, [&](char32_t c, std::size_t begin, std::size_t end, Span) {
      if (!table.has(c, unicode::kCombiningMark)) out.copy(in, begin, end);
    });
  }
};

/// The clean-up of SentencePiece's nmt rules.
class Nmt final : public Normalizer {
 public:
  void normalize(const Segment& in, Text& out) const override {
    for_each_character(in, [&](char32_t c, std::size_t, std::size_t, Span span) {
      if (!is_dropped(c)) out.append(is_space(c) ? U' ' : c, span);
    });
  }

 private:
  static bool is_dropped(char32_t c) {
    return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  }
  static bool is_space(char32_t c) {
    return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
           c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  }
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}

  void normalize(const Segment& in, Text& out) const override {
    std::size_t begin = 0;
    std::size_t end = in.bytes.size();
    while (left_ && begin < end && is_space(unicode::decode(in.bytes, begin))) {
      begin += unicode::decode(in.bytes, begin).length;
    }
    while (right_ && end > begin && is_space(unicode::decode_before(in.bytes, end))) {
      end -= unicode::decode_before(in.bytes, end).length;
    }
    out.copy(in, begin, end);
  }

 private:
  static bool is_space(unicode::Decoded c) { return properties().has(c.code_point, unicode::kWhitespace); }

  bool left_;
  bool right_;
};

/// What is put in front takes the place of the first character, which counts as added behind it.
class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string text) : text_(std::move(text)) {}

  void normalize(const Segment& in, Text& out) const override {
    if (!in.bytes.empty()) out.append(text_, in.aligned() ? in.spans[0] : Span{});
    out.copy(in, 0, in.bytes.size());
  }

 private:
  std::string text_;
};

class ByteLevel final : public Normalizer {
 public:
  void normalize(const Segment& in, Text& out) const override {
    for (std::size_t i = 0; i < in.bytes.size(); ++i) {
      out.append(byte_level_characters()[static_cast<unsigned char>(in.bytes[i])], in.aligned() ? in.spans[i] : Span{});
    }
  }
};

template <class Kind>
Made make_plain(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({}));
  return std::unique_ptr<Normalizer>(std::make_unique<Kind>());
}

}  // namespace

Made make_lowercase(const json::Object& config) { return make_plain<Lowercase>(config); }
Made make_strip_accents(const json::Object& config) { return make_plain<StripAccents>(config); }
Made make_nmt(const json::Object& config) { return make_plain<Nmt>(config); }
Made make_byte_level(const json::Object& config) { return make_plain<ByteLevel>(config); }

Made make_strip(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"strip_left", "strip_right"}));
  WEIR_ASSIGN_OR_RETURN(const bool left, config.boolean_or("strip_left", true));
  WEIR_ASSIGN_OR_RETURN(const bool right, config.boolean_or("strip_right", true));
  return std::unique_ptr<Normalizer>(std::make_unique<Strip>(left, right));
}

Made make_prepend(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"prepend"}));
  WEIR_ASSIGN_OR_RETURN(const std::string_view text, config.string("prepend"));
  return std::unique_ptr<Normalizer>(std::make_unique<Prepend>(std::string(text)));
}

}  // namespace weir::tokenizers::normalizers
