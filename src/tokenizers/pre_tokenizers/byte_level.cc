// ByteLevel: cuts as GPT-2 did, then writes every byte as a printable character.
#include "tokenizers/text/byte_level.h"

#include <algorithm>
#include <array>

#include "tokenizers/pre_tokenizers/makers.h"
#include "tokenizers/unicode/properties.h"

namespace weir::tokenizers::pre_tokenizers {
namespace {

/// GPT-2's expression, by hand:
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Every character is a letter, a number, a space or another, so the matches cover the text.
class WordScanner {
 public:
  explicit WordScanner(std::string_view text) : text_(text) {}

  /// The end of the match that begins at `begin`.
  std::size_t end_of(std::size_t begin) const {
    if (text_[begin] == '\'') {
      if (const std::size_t length = contraction(text_.substr(begin))) return begin + length;
    }
    std::size_t at = begin;
    if (text_[at] == ' ' && at + 1 < text_.size() && kind_at(at + 1).kind != unicode::kRegexSpace) ++at;
    const Character first = kind_at(at);
    if (first.kind != unicode::kRegexSpace) return end_of_run(at, first.kind).end;
    const Run spaces = end_of_run(at, unicode::kRegexSpace);
    // The last space before a word goes with the word, or stands alone.
    return spaces.end == text_.size() || spaces.last == at ? spaces.end : spaces.last;
  }

 private:
  static constexpr unsigned kKinds = unicode::kLetter | unicode::kNumber | unicode::kRegexSpace;

  struct Character {
    unsigned kind = 0;  ///< One of kKinds, or 0.
    std::uint32_t length = 0;
  };
  struct Run {
    std::size_t end = 0;
    std::size_t last = 0;  ///< Where its last character begins.
  };

  Character kind_at(std::size_t at) const {
    const unicode::Decoded character = unicode::decode(text_, at);
    return {table_[character.code_point].classes & kKinds, character.length};
  }

  Run end_of_run(std::size_t at, unsigned kind) const {
    Run run{at, at};
    while (run.end < text_.size()) {
      const Character character = kind_at(run.end);
      if (character.kind != kind) break;
      run.last = run.end;
      run.end += character.length;
    }
    return run;
  }

  static std::size_t contraction(std::string_view text) {
    for (const std::string_view known : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      if (text.starts_with(known)) return known.size();
    }
    return 0;
  }

  std::string_view text_;
  const unicode::Properties& table_ = unicode::properties();
};

class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, bool use_regex) : add_prefix_space_(add_prefix_space), use_regex_(use_regex) {
    for (std::size_t byte = 0; byte < encoded_.size(); ++byte) {
      encoded_[byte].length =
          static_cast<std::uint8_t>(unicode::encode(byte_level_characters()[byte], encoded_[byte].bytes));
    }
  }

  void pre_tokenize(Pieces& pieces) const override {
    if (add_prefix_space_) {
      pieces.rewrite([](const Segment& in, Text& out, std::size_t) {
        if (!in.bytes.starts_with(' ')) out.append(" ", in.aligned() ? in.spans[0] : Span{});
        out.copy(in, 0, in.bytes.size());
      });
    }
    if (use_regex_) pieces.replace_each(cut);
    pieces.rewrite([this](const Segment& in, Text& out, std::size_t) { write_bytes(in, out); });
  }

 private:
  static constexpr std::size_t kLongestEncoded = 2;  // The largest of the characters is U+0143.
  struct Encoded {
    char bytes[4] = {};
    std::uint8_t length = 0;
  };

  static void cut(const Text& text, const Piece& piece, std::vector<Piece>& out) {
    const WordScanner words(std::string_view(text.bytes).substr(0, piece.end));
    for (std::uint32_t at = piece.begin; at < piece.end;) {
      const auto end = static_cast<std::uint32_t>(words.end_of(at));
      out.push_back({at, end});
      at = end;
    }
  }

  void write_bytes(const Segment& in, Text& out) const {
    std::size_t end = out.bytes.size();
    out.bytes.resize(end + in.bytes.size() * kLongestEncoded);
    if (in.aligned()) out.spans.resize(out.bytes.size());
    for (std::size_t i = 0; i < in.bytes.size(); ++i) {
      const Encoded& encoded = encoded_[static_cast<unsigned char>(in.bytes[i])];
      std::copy_n(encoded.bytes, kLongestEncoded, out.bytes.data() + end);
      if (in.aligned()) std::fill_n(out.spans.data() + end, kLongestEncoded, in.spans[i]);
      end += encoded.length;
    }
    out.bytes.resize(end);
    if (in.aligned()) out.spans.resize(end);
  }

  bool add_prefix_space_;
  bool use_regex_;
  std::array<Encoded, 256> encoded_;
};

}  // namespace

Made make_byte_level(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"add_prefix_space", "trim_offsets", "use_regex"}));
  WEIR_ASSIGN_OR_RETURN(const bool add_prefix_space, config.boolean_or("add_prefix_space", true));
  WEIR_ASSIGN_OR_RETURN(const bool use_regex, config.boolean_or("use_regex", true));
  return std::unique_ptr<PreTokenizer>(std::make_unique<ByteLevel>(add_prefix_space, use_regex));
}

}  // namespace weir::tokenizers::pre_tokenizers
