// BertPreTokenizer: words between white space, and every punctuation mark by itself.
#include <array>

#include "tokenizers/pre_tokenizers/makers.h"
#include "tokenizers/unicode/properties.h"

namespace weir::tokenizers::pre_tokenizers {
namespace {

enum class Kind : std::uint8_t { kWord, kSpace, kPunctuation };

class BertPreTokenizer final : public PreTokenizer {
 public:
  BertPreTokenizer() {
    for (std::uint32_t c = 0; c < ascii_.size(); ++c) ascii_[c] = kind_of(c);
  }

  void pre_tokenize(Pieces& pieces) const override {
    pieces.replace_each(
        [this](const Text& text, const Piece& piece, std::vector<Piece>& out) { cut(text, piece, out); });
  }

 private:
  Kind kind_of(char32_t c) const {
    const unsigned classes = table_[c].classes;
    if ((classes & unicode::kWhitespace) != 0) return Kind::kSpace;
    return (classes & unicode::kPunctuation) != 0 ? Kind::kPunctuation : Kind::kWord;
  }

  void cut(const Text& text, const Piece& piece, std::vector<Piece>& out) const {
    const std::string_view bytes = text.bytes;
    std::uint32_t word = piece.begin;
    for (std::uint32_t at = piece.begin; at < piece.end;) {
      const auto lead = static_cast<unsigned char>(bytes[at]);
      Kind kind = Kind::kWord;
      std::uint32_t length = 1;
      if (lead < ascii_.size()) {
        kind = ascii_[lead];
      } else {
        const unicode::Decoded character = unicode::decode(bytes, at);
        kind = kind_of(character.code_point);
        length = character.length;
      }
      if (kind != Kind::kWord) {
        if (word < at) out.push_back({word, at});
        if (kind == Kind::kPunctuation) out.push_back({at, at + length});
        word = at + length;
      }
      at += length;
    }
    if (word < piece.end) out.push_back({word, piece.end});
  }

  const unicode::Properties& table_ = unicode::properties();
  std::array<Kind, 128> ascii_{};
};

}  // namespace

Made make_bert(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({}));
  return std::unique_ptr<PreTokenizer>(std::make_unique<BertPreTokenizer>());
}

}  // namespace weir::tokenizers::pre_tokenizers
