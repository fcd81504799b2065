// The tokens that a file adds on top of its model's vocabulary. They are cut out of a text before the model sees it:
// some from the text as it came, the others ("normalized") from what the normalizer makes of it.
//
// Immutable once loaded; reading from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "tokenizers/json/object.h"
#include "tokenizers/models/vocabulary.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/trie/trie.h"

namespace weir::tokenizers {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  ///< Matches only where no letter or digit touches it.
  bool lstrip = false;       ///< Takes the white space before it along.
  bool rstrip = false;       ///< Takes the white space behind it along.
  bool normalized = true;    ///< Looked for in the normalized text, in normalized form.
  bool special = false;      ///< Left out when decoding without special tokens.
  std::string text;          ///< What decoding takes: the normalized form, or `content`.
};

class AddedTokens {
 public:
  /// Reads the file's `added_tokens`. A token that the vocabulary has keeps its id there; another gets the next free
  /// one, as in the library. `normalizer` may be null.
  static Result<AddedTokens> load(const json::Object& file, const Vocabulary& vocabulary, const Normalizer* normalizer);

  /// Calls emit(begin, end, id) for the tokens in `text` (those of the normalized form, or the others), in order, with
  /// -1 as the id of what lies between.
  template <class Emit>
  void find(std::string_view text, bool normalized, Emit emit) const {
    const Matcher& matcher = normalized ? normalized_ : raw_;
    std::size_t covered = 0;
    for (std::size_t from = 0;;) {
      const Match match = matcher.next(text, from);
      if (match.token < 0) break;
      from = match.end;
      const AddedToken& token = tokens_[match.token];
      if (token.single_word && !stands_alone(text, match)) continue;
      const Match wide = with_spaces(text, match, token, covered);
      if (covered < wide.begin) emit(covered, wide.begin, std::int32_t{-1});
      emit(wide.begin, wide.end, token.id);
      covered = wide.end;
    }
    if (covered < text.size()) emit(covered, text.size(), std::int32_t{-1});
  }

  /// Null when `id` is none of them.
  const AddedToken* by_id(std::int32_t id) const;
  std::optional<std::int32_t> id_of(std::string_view content) const;
  /// Whether decoding leaves a token of this text out.
  bool is_special(std::string_view text) const { return special_.contains(std::string(text)); }
  std::int32_t largest_id() const { return largest_id_; }

 private:
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::int32_t token = -1;  ///< Index into tokens_; -1: no match.
  };

  /// Finds the leftmost of some strings, and the longest of those that begin there.
  class Matcher {
   public:
    Matcher() = default;
    explicit Matcher(const std::vector<std::pair<std::string_view, std::int32_t>>& keys);
    Match next(std::string_view text, std::size_t from) const;

   private:
    Trie trie_;
    std::array<bool, 256> begins_{};  ///< Bytes that a key begins with.
  };

  Status add(AddedToken token, const Vocabulary& vocabulary, const Normalizer* normalizer);
  void build_matchers();
  static bool stands_alone(std::string_view text, const Match& match);
  static Match with_spaces(std::string_view text, Match match, const AddedToken& token, std::size_t covered);

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, std::size_t> by_content_;
  std::unordered_map<std::int32_t, std::size_t> by_id_;
  std::unordered_set<std::string> special_;
  std::int32_t largest_id_ = -1;
  std::uint32_t new_tokens_ = 0;  ///< That the vocabulary does not have: their ids follow its last.
  Matcher raw_;
  Matcher normalized_;
};

}  // namespace weir::tokenizers
