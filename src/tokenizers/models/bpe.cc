// BPE: the characters of a piece, joined pair by pair in the order of the merges. Byte-level files bring their bytes as
// characters; SentencePiece-style ones fall back to tokens for the bytes of what the vocabulary lacks.
#include <algorithm>

#include "tokenizers/models/makers.h"
#include "tokenizers/models/merges.h"
#include "tokenizers/models/piece_cache.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::models {
namespace {

struct Options {
  std::string unknown_token;
  bool has_unknown_token = false;
  std::string continuing_subword_prefix;
  std::string end_of_word_suffix;
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

constexpr std::uint32_t kNoSymbol = 0xFFFFFFFF;
constexpr std::size_t kKeptSymbols = 1 << 14;
constexpr char32_t kCharactersInTable = 0x10000;

/// A token in the making; those of a piece form a list.
struct Symbol {
  std::int32_t id = 0;
  std::uint32_t previous = kNoSymbol;
  std::uint32_t next = kNoSymbol;
  std::uint32_t bytes = 0;  ///< 0 once it has been joined to the one before it.
};

/// A join that may be possible: of a symbol, `left`, with its next one, `right`, to `id`.
struct Candidate {
  std::uint64_t order = 0;  ///< The rank, and in the lower half the place of the left symbol.
  std::int32_t left = 0;
  std::int32_t right = 0;
  std::int32_t id = 0;

  std::uint32_t position() const { return static_cast<std::uint32_t>(order); }
};

/// For a heap with the smallest rank, then the leftmost place, on top. A type, so that the heap's functions inline it.
struct IsLater {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.order > b.order; }
};

class Word {
 public:
  void clear() {
    symbols_.clear();
    heap_.clear();
  }

  void add(std::int32_t id, std::uint32_t bytes) {
    const auto at = static_cast<std::uint32_t>(symbols_.size());
    if (at > 0) symbols_.back().next = at;
    symbols_.push_back({id, at > 0 ? at - 1 : kNoSymbol, kNoSymbol, bytes});
  }

  void merge(const MergeTable& merges) {
    for (std::uint32_t i = 0; i + 1 < symbols_.size(); ++i) find_candidate(merges, i);
    std::make_heap(heap_.begin(), heap_.end(), IsLater());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), IsLater());
      const Candidate top = heap_.back();
      heap_.pop_back();
      join(merges, top);
    }
  }

  void emit(std::uint32_t base, std::vector<Token>& tokens) const {
    for (const Symbol& symbol : symbols_) {
      if (symbol.bytes == 0) continue;
      tokens.push_back({symbol.id, base, base + symbol.bytes});
      base += symbol.bytes;
    }
  }

  void shrink() {
    if (symbols_.capacity() > kKeptSymbols) *this = {};
  }

 private:
  bool find_candidate(const MergeTable& merges, std::uint32_t position) {
    const std::int32_t left = symbols_[position].id;
    const std::int32_t right = symbols_[symbols_[position].next].id;
    const Merge merge = merges.find(left, right);
    if (merge.id < 0) return false;
    heap_.push_back({std::uint64_t{merge.rank} << 32 | position, left, right, merge.id});
    return true;
  }

  void offer(const MergeTable& merges, std::uint32_t position) {
    if (find_candidate(merges, position)) std::push_heap(heap_.begin(), heap_.end(), IsLater());
  }

  void join(const MergeTable& merges, const Candidate& candidate) {
    const std::uint32_t position = candidate.position();
    Symbol& left = symbols_[position];
    if (left.bytes == 0 || left.next == kNoSymbol) return;
    Symbol& right = symbols_[left.next];
    // One of the two may have been joined to another since: the library joins what they are now if that gives the same.
    const bool unchanged = left.id == candidate.left && right.id == candidate.right;
    if (!unchanged && merges.find(left.id, right.id).id != candidate.id) return;
    left.id = candidate.id;
    left.bytes += right.bytes;
    left.next = right.next;
    right.bytes = 0;
    if (left.next != kNoSymbol) symbols_[left.next].previous = position;
    if (left.previous != kNoSymbol) offer(merges, left.previous);
    if (left.next != kNoSymbol) offer(merges, position);
  }

  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

class Bpe final : public Model {
 public:
  Bpe(Vocabulary vocabulary, MergeTable merges, Options options)
      : vocabulary_(std::move(vocabulary)),
        merges_(std::move(merges)),
        options_(std::move(options)),
        unknown_(options_.has_unknown_token ? vocabulary_.find_id(options_.unknown_token) : -1),
        byte_ids_(byte_token_ids(vocabulary_)),
        cache_key_(PieceCache::new_key()) {
    vocabulary_.each([this](std::string_view token, std::int32_t id) {
      if (token.empty() || unicode::length_from_lead(static_cast<unsigned char>(token[0])) != token.size()) return;
      const char32_t character = unicode::decode(token, 0).code_point;
      if (character >= kCharactersInTable) return;
      if (character >= character_ids_.size()) character_ids_.resize(character + 1, -1);
      character_ids_[character] = id;
    });
  }

  Status tokenize(std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const override {
    if (options_.ignore_merges) {
      if (const std::int32_t id = vocabulary_.find_id(piece); id >= 0) {
        tokens.push_back({id, base, base + static_cast<std::uint32_t>(piece.size())});
        return {};
      }
    }
    PieceCache& cache = PieceCache::of_this_thread();
    if (cache.find(cache_key_, piece, base, tokens)) return {};
    static thread_local Word word;
    word.clear();
    WEIR_RETURN_IF_ERROR(spell(piece, word));
    word.merge(merges_);
    const std::size_t first = tokens.size();
    word.emit(base, tokens);
    word.shrink();
    cache.store(cache_key_, piece, base, std::span(tokens).subspan(first));
    return {};
  }

  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  /// The unknown characters that have been read and not yet written.
  struct Unknown {
    std::uint32_t bytes = 0;

    void flush(std::int32_t id, Word& word) {
      if (bytes > 0) word.add(id, bytes);
      bytes = 0;
    }
  };

  /// The piece's characters as tokens. A character that the vocabulary lacks is bytes, or unknown, or (without an
  /// unknown token) left out, which shifts the places of those behind it: the library's way.
  Status spell(std::string_view piece, Word& word) const {
    Unknown unknown;
    for (std::uint32_t at = 0; at < piece.size();) {
      const auto [code_point, length] = unicode::decode(piece, at);
      std::string_view text = piece.substr(at, length);
      static thread_local std::string affixed;
      const bool has_prefix = at > 0 && !options_.continuing_subword_prefix.empty();
      const bool has_suffix = at + length == piece.size() && !options_.end_of_word_suffix.empty();
      const bool has_affix = has_prefix || has_suffix;
      if (has_affix) {
        affixed.assign(has_prefix ? options_.continuing_subword_prefix : "").append(text);
        if (has_suffix) affixed.append(options_.end_of_word_suffix);
        text = affixed;
      }
      at += length;
      const std::int32_t id = has_affix ? vocabulary_.find_id(text) : id_of_character(code_point, text);
      if (id >= 0) {
        unknown.flush(unknown_, word);
        word.add(id, length);
      } else if (!add_bytes(text, word) && options_.has_unknown_token) {
        if (unknown_ < 0) return missing_unknown_token("model.unk_token", options_.unknown_token);
        if (!options_.fuse_unknown) unknown.flush(unknown_, word);
        unknown.bytes += length;
      }
    }
    unknown.flush(unknown_, word);
    return {};
  }

  std::int32_t id_of_character(char32_t code_point, std::string_view text) const {
    if (code_point < character_ids_.size()) return character_ids_[code_point];
    return code_point < kCharactersInTable ? -1 : vocabulary_.find_id(text);
  }

  bool add_bytes(std::string_view text, Word& word) const {
    if (!options_.byte_fallback) return false;
    const auto id_of = [this](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
    if (!std::all_of(text.begin(), text.end(), [&](char c) { return id_of(c) >= 0; })) return false;
    for (const char c : text) word.add(id_of(c), 1);
    return true;
  }

  Vocabulary vocabulary_;
  MergeTable merges_;
  Options options_;
  std::int32_t unknown_;
  std::array<std::int32_t, 256> byte_ids_;
  std::vector<std::int32_t> character_ids_;  ///< By code point, up to the largest that is a token; -1: none.
  std::uint32_t cache_key_;
};

struct Pair {
  std::string_view left;
  std::string_view right;
};

/// A merge is written "a b", or ["a", "b"] in newer files.
Result<Pair> read_pair(const json::Element& element, const std::string& path) {
  Pair pair;
  simdjson::dom::array array;
  if (element.get_array().get(array) == simdjson::SUCCESS) {
    if (array.size() != 2) return Error(ErrorKind::kCorrupt, path + ": expected pairs of tokens", path);
    WEIR_ASSIGN_OR_RETURN(pair.left, json::as_string(array.at(0).value_unsafe(), path));
    WEIR_ASSIGN_OR_RETURN(pair.right, json::as_string(array.at(1).value_unsafe(), path));
    return pair;
  }
  WEIR_ASSIGN_OR_RETURN(const std::string_view text, json::as_string(element, path));
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos) {
    return Error(ErrorKind::kCorrupt, path + ": expected two tokens with a blank between them", path);
  }
  return Pair{text.substr(0, blank), text.substr(blank + 1)};
}

Result<MergeTable> read_merges(const json::Object& config, const Vocabulary& vocabulary, std::size_t prefix_bytes) {
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array list, config.array("merges"));
  MergeTable merges(list.size());
  std::uint32_t rank = 0;
  std::string joined;
  for (const json::Element element : list) {
    std::string_view line;
    if (element.get_string().get(line) == simdjson::SUCCESS && line.starts_with("#version")) continue;
    const std::string path = config.path_of("merges") + "[" + std::to_string(rank) + "]";
    WEIR_ASSIGN_OR_RETURN(const Pair pair, read_pair(element, path));
    const std::int32_t left = vocabulary.find_id(pair.left);
    const std::int32_t right = vocabulary.find_id(pair.right);
    std::int32_t id = -1;
    if (pair.right.size() >= prefix_bytes) {
      joined.assign(pair.left).append(pair.right.substr(prefix_bytes));
      id = vocabulary.find_id(joined);
    }
    if (left < 0 || right < 0 || id < 0) {
      return Error(ErrorKind::kCorrupt, path + ": a token of the merge, or what it makes, is not in the vocabulary",
                   path);
    }
    merges.add(left, right, {rank++, id});
  }
  return merges;
}

Result<Options> read_options(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix",
                                             "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges"}));
  if (const auto dropout = config.find("dropout")) {
    WEIR_ASSIGN_OR_RETURN(const double share, json::as_number(*dropout, config.path_of("dropout")));
    if (share != 0) {
      return Error(ErrorKind::kUnsupported,
                   config.path_of("dropout") +
                       ": a random tokenization is not supported; the "
                       "nearest that is: no dropout",
                   config.path_of("dropout"));
    }
  }
  Options options;
  options.has_unknown_token = config.find("unk_token").has_value();
  WEIR_ASSIGN_OR_RETURN(options.unknown_token, config.string_or("unk_token", ""));
  WEIR_ASSIGN_OR_RETURN(options.continuing_subword_prefix, config.string_or("continuing_subword_prefix", ""));
  WEIR_ASSIGN_OR_RETURN(options.end_of_word_suffix, config.string_or("end_of_word_suffix", ""));
  WEIR_ASSIGN_OR_RETURN(options.fuse_unknown, config.boolean_or("fuse_unk", false));
  WEIR_ASSIGN_OR_RETURN(options.byte_fallback, config.boolean_or("byte_fallback", false));
  WEIR_ASSIGN_OR_RETURN(options.ignore_merges, config.boolean_or("ignore_merges", false));
  return options;
}

}  // namespace

Made make_bpe(const json::Object& config) {
  WEIR_ASSIGN_OR_RETURN(Options options, read_options(config));
  WEIR_ASSIGN_OR_RETURN(const json::Element element, config.require("vocab"));
  WEIR_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::from_object(element, config.path_of("vocab")));
  WEIR_ASSIGN_OR_RETURN(MergeTable merges, read_merges(config, vocabulary, options.continuing_subword_prefix.size()));
  return std::unique_ptr<Model>(std::make_unique<Bpe>(std::move(vocabulary), std::move(merges), std::move(options)));
}

}  // namespace weir::tokenizers::models
