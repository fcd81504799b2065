// Unigram: of all ways to cut a piece into tokens, the one with the largest sum of scores (Viterbi's algorithm, from
// the left, a later way only when it is strictly better).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "tokenizers/models/makers.h"
#include "tokenizers/models/piece_cache.h"
#include "tokenizers/trie/trie.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::models {
namespace {

/// How much worse an unknown character is than the worst token.
constexpr double kUnknownPenalty = 10.0;

constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
constexpr std::size_t kKeptNodes = 1 << 16;

/// The best way to reach a place in the piece.
struct Node {
  double score = 0;
  std::uint32_t begin = kNowhere;  ///< Of the last token on that way.
  std::int32_t id = 0;

  void offer(double candidate, std::uint32_t from, std::int32_t token) {
    if (begin == kNowhere || candidate > score) *this = {candidate, from, token};
  }
};

class Unigram final : public Model {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, std::int32_t unknown, bool byte_fallback)
      : vocabulary_(std::move(vocabulary)),
        scores_(std::move(scores)),
        unknown_(unknown),
        cache_key_(PieceCache::new_key()) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    keys.reserve(vocabulary_.tokens());
    vocabulary_.each([&](std::string_view token, std::int32_t id) { keys.emplace_back(token, id); });
    trie_ = Trie(std::move(keys));
    double smallest = std::numeric_limits<double>::infinity();
    for (const double score : scores_) smallest = score < smallest ? score : smallest;
    unknown_score_ = smallest - kUnknownPenalty;
    if (byte_fallback) {
      byte_ids_ = byte_token_ids(vocabulary_);
    } else {
      byte_ids_.fill(-1);
    }
  }

  Status tokenize(std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const override {
    PieceCache& cache = PieceCache::of_this_thread();
    if (cache.find(cache_key_, piece, base, tokens)) return {};
    static thread_local std::vector<Node> nodes;
    nodes.assign(piece.size() + 1, Node{});
    const bool covered = find_best(piece, nodes);
    const std::size_t first = tokens.size();
    if (covered) {
      for (auto end = static_cast<std::uint32_t>(piece.size()); end > 0; end = nodes[end].begin) {
        tokens.push_back({nodes[end].id, nodes[end].begin, end});
      }
    }
    if (nodes.capacity() > kKeptNodes) std::vector<Node>().swap(nodes);
    if (!covered) return missing_unknown_token("model.unk_id", {});
    std::reverse(tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.end());
    const bool has_unknown = finish(piece, base, first, tokens);
    // The bytes of an unknown character share its place, which the cache cannot say.
    if (!has_unknown) cache.store(cache_key_, piece, base, std::span(tokens).subspan(first));
    return {};
  }

  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  /// False when an unknown character comes up and there is no unknown token.
  bool find_best(std::string_view piece, std::vector<Node>& nodes) const {
    for (std::uint32_t begin = 0; begin < piece.size();) {
      const double here = nodes[begin].score;
      const std::uint32_t length = unicode::length_from_lead(static_cast<unsigned char>(piece[begin]));
      bool has_single = false;
      Trie::Node node = trie_.empty() ? Trie::kNone : Trie::kRoot;
      for (std::uint32_t at = begin; node != Trie::kNone && at < piece.size();) {
        node = trie_.step(node, piece[at++]);
        if (node == Trie::kNone) break;
        const std::int32_t id = trie_.value(node);
        if (id == Trie::kNoValue) continue;
        nodes[at].offer(scores_[static_cast<std::size_t>(id)] + here, begin, id);
        has_single = has_single || at - begin == length;
      }
      if (!has_single) {
        if (unknown_ < 0) return false;
        nodes[begin + length].offer(unknown_score_ + here, begin, unknown_);
      }
      begin += length;
    }
    return true;
  }

  /// Joins unknown tokens that follow each other, and writes them as bytes if the vocabulary can. Whether there are
  /// any.
  bool finish(std::string_view piece, std::uint32_t base, std::size_t first, std::vector<Token>& tokens) const {
    bool has_unknown = false;
    for (std::size_t i = first; i < tokens.size(); ++i) has_unknown = has_unknown || tokens[i].id == unknown_;
    if (has_unknown) {
      static thread_local std::vector<Token> path;
      path.assign(tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.end());
      tokens.resize(first);
      for (std::size_t i = 0; i < path.size(); ++i) {
        Token token = path[i];
        if (token.id != unknown_) {
          tokens.push_back(token);
          continue;
        }
        while (i + 1 < path.size() && path[i + 1].id == unknown_) token.end = path[++i].end;
        add_unknown(piece, token, tokens);
      }
    }
    for (std::size_t i = first; i < tokens.size(); ++i) {
      tokens[i].begin += base;
      tokens[i].end += base;
    }
    return has_unknown;
  }

  void add_unknown(std::string_view piece, Token token, std::vector<Token>& tokens) const {
    const std::string_view text = piece.substr(token.begin, token.end - token.begin);
    if (const std::int32_t id = vocabulary_.find_id(text); id >= 0) {
      token.id = id;
      return tokens.push_back(token);
    }
    const bool has_bytes = std::all_of(text.begin(), text.end(), [this](char c) { return byte_id(c) >= 0; });
    if (!has_bytes) return tokens.push_back(token);
    for (const char c : text) tokens.push_back({byte_id(c), token.begin, token.end});
  }

  std::int32_t byte_id(char c) const { return byte_ids_[static_cast<unsigned char>(c)]; }

  Vocabulary vocabulary_;
  std::vector<double> scores_;  ///< By id.
  std::int32_t unknown_;        ///< -1: none.
  std::uint32_t cache_key_;
  double unknown_score_ = 0;
  Trie trie_;
  std::array<std::int32_t, 256> byte_ids_{};
};

/// A power of ten, rounded once.
double power_of_ten(int exponent) {
  const std::string text = "1e" + std::to_string(exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A score as the `tokenizers` package has it. Its reader takes the decimal digits for a whole number, which is
/// rounded, and divides that by a power of ten, which rounds again: a quarter of a vocabulary's scores are one unit in
/// the last place off, and of two ways that add up to the same, another one may win. What counts are the shortest
/// digits of the score, which is how such files are written.
double as_reference_reads(double score) {
  constexpr int kMostPower = 308;
  if (score == 0) return score;
  char text[32];
  const char* end = std::to_chars(std::begin(text), std::end(text), std::abs(score), std::chars_format::scientific).ptr;
  std::uint64_t digits = 0;
  int exponent = 0;
  const char* at = text;
  for (bool is_fraction = false; *at != 'e'; ++at) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    exponent -= is_fraction ? 1 : 0;
  }
  int shift = 0;
  std::from_chars(at + (at[1] == '+' ? 2 : 1), end, shift);
  exponent += shift;
  auto value = static_cast<double>(digits);
  for (; exponent < -kMostPower; exponent += kMostPower) value /= power_of_ten(kMostPower);
  value = exponent < 0 ? value / power_of_ten(-exponent) : value * power_of_ten(exponent);
  return std::copysign(value, score);
}

struct Scored {
  Vocabulary vocabulary;
  std::vector<double> scores;
};

Result<Scored> read_vocabulary(const json::Object& config) {
  const std::string path = config.path_of("vocab");
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array entries, config.array("vocab"));
  Scored result;
  for (const json::Element element : entries) {
    WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array entry, json::as_array(element, path));
    if (entry.size() != 2) return Error(ErrorKind::kCorrupt, path + ": expected pairs of a token and its score", path);
    WEIR_ASSIGN_OR_RETURN(const std::string_view token, json::as_string(entry.at(0).value_unsafe(), path));
    WEIR_ASSIGN_OR_RETURN(const double score, json::as_number(entry.at(1).value_unsafe(), path));
    if (result.scores.size() > static_cast<std::size_t>(kLargestId)) {
      return Error(ErrorKind::kCorrupt, path + ": too many tokens", path);
    }
    result.vocabulary.add(token, static_cast<std::int32_t>(result.scores.size()));
    result.scores.push_back(as_reference_reads(score));
  }
  return result;
}

}  // namespace

Made make_unigram(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"vocab", "unk_id", "byte_fallback"}));
  WEIR_ASSIGN_OR_RETURN(Scored scored, read_vocabulary(config));
  WEIR_ASSIGN_OR_RETURN(const bool byte_fallback, config.boolean_or("byte_fallback", false));
  std::int32_t unknown = -1;
  if (config.find("unk_id")) {
    const std::uint64_t limit = scored.scores.empty() ? 0 : scored.scores.size() - 1;
    WEIR_ASSIGN_OR_RETURN(const std::uint64_t id, config.unsigned_or("unk_id", 0, limit));
    if (scored.scores.empty()) {
      return Error(ErrorKind::kCorrupt, config.path_of("vocab") + ": is empty, but unk_id is set",
                   config.path_of("vocab"));
    }
    unknown = static_cast<std::int32_t>(id);
  }
  return std::unique_ptr<Model>(
      std::make_unique<Unigram>(std::move(scored.vocabulary), std::move(scored.scores), unknown, byte_fallback));
}

}  // namespace weir::tokenizers::models
