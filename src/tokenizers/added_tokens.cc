#include "tokenizers/added_tokens.h"

#include <algorithm>

#include "tokenizers/unicode/properties.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers {
namespace {

constexpr std::size_t kMostTokens = 1 << 20;

Result<AddedToken> read_token(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(
      config.refuse_others({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
  AddedToken token;
  WEIR_ASSIGN_OR_RETURN(token.content, config.string("content"));
  WEIR_ASSIGN_OR_RETURN(token.single_word, config.boolean_or("single_word", false));
  WEIR_ASSIGN_OR_RETURN(token.lstrip, config.boolean_or("lstrip", false));
  WEIR_ASSIGN_OR_RETURN(token.rstrip, config.boolean_or("rstrip", false));
  WEIR_ASSIGN_OR_RETURN(token.special, config.boolean_or("special", false));
  WEIR_ASSIGN_OR_RETURN(token.normalized, config.boolean_or("normalized", !token.special));
  WEIR_RETURN_IF_ERROR(config.unsigned_or("id", 0, kLargestId));
  return token;
}

std::string normalized_form(const std::string& content, const Normalizer& normalizer) {
  Text normal;
  normalizer.normalize({content, nullptr, 0}, normal);
  return normal.is_usable() ? std::move(normal.bytes) : std::string();
}

}  // namespace

Result<AddedTokens> AddedTokens::load(const json::Object& file, const Vocabulary& vocabulary,
                                      const Normalizer* normalizer) {
  AddedTokens result;
  if (!file.find("added_tokens")) return result;
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array tokens, file.array("added_tokens"));
  if (tokens.size() > kMostTokens) {
    return Error(ErrorKind::kCorrupt, "added_tokens: more than " + std::to_string(kMostTokens) + " tokens",
                 "added_tokens");
  }
  std::size_t index = 0;
  for (const json::Element element : tokens) {
    const std::string path = "added_tokens[" + std::to_string(index++) + "]";
    WEIR_ASSIGN_OR_RETURN(const json::Object config, json::Object::from(element, path));
    WEIR_ASSIGN_OR_RETURN(AddedToken token, read_token(config));
    if (token.content.empty()) continue;
    WEIR_RETURN_IF_ERROR(result.add(std::move(token), vocabulary, normalizer));
  }
  result.build_matchers();
  return result;
}

Status AddedTokens::add(AddedToken token, const Vocabulary& vocabulary, const Normalizer* normalizer) {
  const auto known = by_content_.find(token.content);
  if (known != by_content_.end()) {
    token.id = tokens_[known->second].id;
  } else if (const auto id = vocabulary.find(token.content)) {
    token.id = *id;
  } else {
    token.id = static_cast<std::int32_t>(vocabulary.tokens() + new_tokens_++);
    if (token.id > kLargestId) return Error(ErrorKind::kCorrupt, "added_tokens: an id is too large", "added_tokens");
  }
  token.text = token.normalized && normalizer != nullptr ? normalized_form(token.content, *normalizer) : token.content;
  if (token.text.empty()) {
    return Error(ErrorKind::kUnsupported,
                 "added_tokens: nothing usable is left of the token with id " + std::to_string(token.id) +
                     " once it is normalized",
                 "added_tokens");
  }
  if (token.special) special_.insert(token.content);
  largest_id_ = std::max(largest_id_, token.id);
  const std::size_t index = known != by_content_.end() ? known->second : tokens_.size();
  by_content_[token.content] = index;
  by_id_[token.id] = index;
  if (index == tokens_.size()) tokens_.emplace_back();
  tokens_[index] = std::move(token);
  return {};
}

void AddedTokens::build_matchers() {
  std::vector<std::pair<std::string_view, std::int32_t>> raw;
  std::vector<std::pair<std::string_view, std::int32_t>> normalized;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    // Two vocabulary entries of one id: the later one has taken its place.
    if (by_id_[tokens_[i].id] != i) continue;
    (tokens_[i].normalized ? normalized : raw).emplace_back(tokens_[i].text, static_cast<std::int32_t>(i));
  }
  raw_ = Matcher(raw);
  normalized_ = Matcher(normalized);
}

const AddedToken* AddedTokens::by_id(std::int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

std::optional<std::int32_t> AddedTokens::id_of(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? std::nullopt : std::optional(tokens_[found->second].id);
}

bool AddedTokens::stands_alone(std::string_view text, const Match& match) {
  const unicode::Properties& table = unicode::properties();
  const bool free_left =
      match.begin == 0 || !table.has(unicode::decode_before(text, match.begin).code_point, unicode::kWord);
  const bool free_right =
      match.end == text.size() || !table.has(unicode::decode(text, match.end).code_point, unicode::kWord);
  return free_left && free_right;
}

AddedTokens::Match AddedTokens::with_spaces(std::string_view text, Match match, const AddedToken& token,
                                            std::size_t covered) {
  const unicode::Properties& table = unicode::properties();
  if (token.lstrip) {
    std::size_t begin = match.begin;
    while (begin > 0) {
      const unicode::Decoded before = unicode::decode_before(text, begin);
      if (!table.has(before.code_point, unicode::kWhitespace)) break;
      begin -= before.length;
    }
    match.begin = std::max(begin, covered);
  }
  while (token.rstrip && match.end < text.size()) {
    const unicode::Decoded next = unicode::decode(text, match.end);
    if (!table.has(next.code_point, unicode::kWhitespace)) break;
    match.end += next.length;
  }
  return match;
}

AddedTokens::Matcher::Matcher(const std::vector<std::pair<std::string_view, std::int32_t>>& keys) : trie_(keys) {
  for (const auto& [key, token] : keys) begins_[static_cast<unsigned char>(key.front())] = true;
}

AddedTokens::Match AddedTokens::Matcher::next(std::string_view text, std::size_t from) const {
  if (trie_.empty()) return {};
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (!begins_[static_cast<unsigned char>(text[begin])]) continue;
    Match longest;
    Trie::Node node = Trie::kRoot;
    for (std::size_t at = begin; at < text.size();) {
      node = trie_.step(node, text[at++]);
      if (node == Trie::kNone) break;
      if (trie_.value(node) != Trie::kNoValue) longest = {begin, at, trie_.value(node)};
    }
    if (longest.token >= 0) return longest;
  }
  return {};
}

}  // namespace weir::tokenizers
