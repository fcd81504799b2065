// WordPiece: the longest token that begins the word, then the longest continuation that begins the rest, and so on; a
// word that cannot be covered is one unknown token.
#include "tokenizers/models/makers.h"
#include "tokenizers/trie/trie.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::models {
namespace {

constexpr std::uint64_t kLargestLimit = 0xFFFFFFFF;

struct Options {
  std::string unknown_token;
  std::string continuing_subword_prefix;
  std::uint64_t max_input_chars_per_word = 100;
};

class WordPiece final : public Model {
 public:
  WordPiece(Vocabulary vocabulary, Options options) : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
    unknown_ = vocabulary_.find_id(options_.unknown_token);
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    keys.reserve(vocabulary_.tokens());
    vocabulary_.each([&](std::string_view token, std::int32_t id) { keys.emplace_back(token, id); });
    trie_ = Trie(std::move(keys));
    continuation_ = trie_.find(options_.continuing_subword_prefix);
  }

  Status tokenize(std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const override {
    const std::size_t first = tokens.size();
    if (!is_too_long(piece) && cover(piece, base, tokens)) return {};
    tokens.resize(first);
    if (unknown_ < 0) {
      return missing_unknown_token("model.unk_token", options_.unknown_token);
    }
    tokens.push_back({unknown_, base, base + static_cast<std::uint32_t>(piece.size())});
    return {};
  }

  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  bool is_too_long(std::string_view piece) const {
    return piece.size() > options_.max_input_chars_per_word &&
           unicode::count_code_points(piece) > options_.max_input_chars_per_word;
  }

  /// False when some part of the piece begins with no token.
  bool cover(std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const {
    Trie::Node node = trie_.empty() ? Trie::kNone : Trie::kRoot;
    for (std::uint32_t begin = 0; begin < piece.size(); node = continuation_) {
      std::int32_t longest = Trie::kNoValue;
      std::uint32_t end = begin;
      for (std::uint32_t at = begin; node != Trie::kNone && at < piece.size();) {
        node = trie_.step(node, piece[at++]);
        if (node == Trie::kNone) break;
        if (const std::int32_t id = trie_.value(node); id != Trie::kNoValue) {
          longest = id;
          end = at;
        }
      }
      if (longest == Trie::kNoValue) return false;
      tokens.push_back({longest, base + begin, base + end});
      begin = end;
    }
    return true;
  }

  Vocabulary vocabulary_;
  Options options_;
  Trie trie_;
  Trie::Node continuation_ = Trie::kNone;  ///< Where the walk of a word's later parts begins.
  std::int32_t unknown_ = -1;
};

}  // namespace

Made make_wordpiece(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(
      config.refuse_others({"vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"}));
  Options options;
  WEIR_ASSIGN_OR_RETURN(options.unknown_token, config.string_or("unk_token", "[UNK]"));
  WEIR_ASSIGN_OR_RETURN(options.continuing_subword_prefix, config.string_or("continuing_subword_prefix", "##"));
  WEIR_ASSIGN_OR_RETURN(options.max_input_chars_per_word,
                        config.unsigned_or("max_input_chars_per_word", 100, kLargestLimit));
  WEIR_ASSIGN_OR_RETURN(const json::Element element, config.require("vocab"));
  WEIR_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::from_object(element, config.path_of("vocab")));
  return std::unique_ptr<Model>(std::make_unique<WordPiece>(std::move(vocabulary), std::move(options)));
}

}  // namespace weir::tokenizers::models
