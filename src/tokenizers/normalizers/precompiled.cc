// Precompiled: SentencePiece's compiled table of replacements. A double array of byte strings (Darts' format) leads to
// texts that end in a zero byte.
//
// The library asks the table for a whole grapheme cluster if it has fewer than six bytes, else, or if the table does
// not have it, for each of its characters; and of several keys that begin what it asks for, it takes the shortest.
#include <array>
#include <cstring>
#include <optional>

#include <unicode/uchar.h>

#include "tokenizers/normalizers/makers.h"
#include "tokenizers/unicode/normalization.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::normalizers {
namespace {

constexpr std::size_t kLongestLookup = 5;

/// What is longer than this is no replacement: those of real tables have some dozen bytes.
constexpr std::size_t kLongestReplacement = 1024;

/// Reads base64 as RFC 4648 has it; empty when it is not that.
std::optional<std::string> from_base64(std::string_view encoded) {
  std::string bytes;
  bytes.reserve(encoded.size() / 4 * 3);
  while (!encoded.empty() && encoded.back() == '=') encoded.remove_suffix(1);
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : encoded) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return bytes;
}

int break_class_of(char32_t c) { return u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_GRAPHEME_CLUSTER_BREAK); }
bool is_pictograph_of(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_EXTENDED_PICTOGRAPHIC) != 0;
}

/// What ICU says of a code point; for those up to U+FFFF it is asked once, since it takes long to answer.
class BreakProperties {
 public:
  static const BreakProperties& instance() {
    static const BreakProperties table;
    return table;
  }

  int break_class(char32_t c) const { return c < entries_.size() ? entries_[c] & kClass : break_class_of(c); }
  bool is_pictograph(char32_t c) const {
    return c < entries_.size() ? (entries_[c] & kPictograph) != 0 : is_pictograph_of(c);
  }

 private:
  static constexpr std::uint8_t kPictograph = 0x80;
  static constexpr std::uint8_t kClass = 0x7F;

  BreakProperties() : entries_(0x10000) {
    for (char32_t c = 0; c < entries_.size(); ++c) {
      entries_[c] = static_cast<std::uint8_t>(break_class_of(c) | (is_pictograph_of(c) ? kPictograph : 0));
    }
  }

  std::vector<std::uint8_t> entries_;
};

/// Where grapheme clusters end: the rules GB3 to GB13 of Unicode's annex 29.
class ClusterScanner {
 public:
  explicit ClusterScanner(std::string_view text) : text_(text) {}

  /// The end of the cluster that begins at `begin`.
  std::size_t end_of(std::size_t begin) {
    const unicode::Decoded first = unicode::decode(text_, begin);
    std::size_t end = begin + first.length;
    int before = table_.break_class(first.code_point);
    bool pictograph = table_.is_pictograph(first.code_point);
    bool joined = false;
    bool odd_flag = before == U_GCB_REGIONAL_INDICATOR;
    while (end < text_.size()) {
      const unicode::Decoded next = unicode::decode(text_, end);
      const int after = table_.break_class(next.code_point);
      const bool next_is_pictograph = table_.is_pictograph(next.code_point);
      const bool goes_on =
          continues(before, after) || (joined && next_is_pictograph) || (odd_flag && after == U_GCB_REGIONAL_INDICATOR);
      if (!goes_on) break;
      odd_flag = false;
      joined = pictograph && after == U_GCB_ZWJ;
      pictograph = next_is_pictograph || (pictograph && after == U_GCB_EXTEND);
      before = after;
      end += next.length;
    }
    return end;
  }

 private:
  static bool is_control(int c) { return c == U_GCB_CONTROL || c == U_GCB_CR || c == U_GCB_LF; }

  static bool continues(int before, int after) {
    if (before == U_GCB_CR) return after == U_GCB_LF;
    if (is_control(before) || is_control(after)) return false;
    if (after == U_GCB_EXTEND || after == U_GCB_ZWJ || after == U_GCB_SPACING_MARK || before == U_GCB_PREPEND)
      return true;
    switch (before) {
      case U_GCB_L:
        return after == U_GCB_L || after == U_GCB_V || after == U_GCB_LV || after == U_GCB_LVT;
      case U_GCB_LV:
      case U_GCB_V:
        return after == U_GCB_V || after == U_GCB_T;
      case U_GCB_LVT:
      case U_GCB_T:
        return after == U_GCB_T;
      default:
        return false;
    }
  }

  std::string_view text_;
  const BreakProperties& table_ = BreakProperties::instance();
};

class Precompiled final : public Normalizer {
 public:
  Precompiled(std::vector<std::uint32_t> units, std::string texts)
      : units_(std::move(units)), texts_(std::move(texts)) {
    for (std::uint32_t c = 0; c < ascii_changes_.size(); ++c) {
      const char character = static_cast<char>(c);
      ascii_changes_[c] = find(std::string_view(&character, 1)).has_value();
    }
  }

  void normalize(const Segment& in, Text& out) const override {
    static thread_local std::vector<unicode::Change> changes;
    changes.clear();
    const bool modified = collect(in.bytes, changes);
    if (changes.size() > kLongestText) {
      out.fail(Trouble::kTooLong);
    } else if (modified) {
      apply(changes, in, out);
    } else {
      out.copy(in, 0, in.bytes.size());
    }
    if (changes.capacity() > kKeptChanges) std::vector<unicode::Change>().swap(changes);
  }

 private:
  static constexpr std::size_t kKeptChanges = 1 << 17;
  using Changes = std::vector<unicode::Change>;

  /// False when nothing is replaced.
  bool collect(std::string_view text, Changes& changes) const {
    ClusterScanner clusters(text);
    bool modified = false;
    for (std::size_t at = 0; at < text.size();) {
      if (is_plain_ascii(text, at)) {
        changes.push_back({static_cast<char32_t>(text[at]), 0});
        ++at;
        continue;
      }
      const std::size_t end = clusters.end_of(at);
      modified |= add_cluster(text.substr(at, end - at), changes);
      at = end;
    }
    return modified;
  }

  /// A character that is a cluster by itself and stays as it is.
  bool is_plain_ascii(std::string_view text, std::size_t at) const {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80 || byte < 0x20 || ascii_changes_[byte]) return false;
    return at + 1 == text.size() || static_cast<unsigned char>(text[at + 1]) < 0x80;
  }

  bool add_cluster(std::string_view cluster, Changes& changes) const {
    if (cluster.size() <= kLongestLookup) {
      if (const auto text = find(cluster)) {
        replace(cluster, *text, changes);
        return true;
      }
    }
    bool modified = false;
    for (std::size_t at = 0; at < cluster.size();) {
      const unicode::Decoded character = unicode::decode(cluster, at);
      const std::string_view part = cluster.substr(at, character.length);
      if (const auto text = find(part)) {
        replace(part, *text, changes);
        modified = true;
      } else {
        changes.push_back({character.code_point, 0});
      }
      at += character.length;
    }
    return modified;
  }

  /// What the table has for the shortest key that begins `key`.
  std::optional<std::string_view> find(std::string_view key) const {
    std::size_t node = 0;
    std::uint32_t unit = units_[node];
    node ^= offset_of(unit);
    for (const char c : key) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0) break;
      node ^= byte;
      if (node >= units_.size()) return std::nullopt;
      unit = units_[node];
      if ((unit & (1u << 31 | 0xFF)) != byte) return std::nullopt;
      node ^= offset_of(unit);
      if (node >= units_.size()) return std::nullopt;
      if ((unit >> 8 & 1) != 0) return text_at(units_[node] & 0x7FFFFFFF);
    }
    return std::nullopt;
  }

  static std::size_t offset_of(std::uint32_t unit) {
    return static_cast<std::size_t>(unit >> 10) << ((unit & (1u << 9)) >> 6);
  }

  std::optional<std::string_view> text_at(std::size_t begin) const {
    if (begin >= texts_.size()) return std::nullopt;
    const std::string_view text = std::string_view(texts_).substr(begin, kLongestReplacement);
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos && text.size() == kLongestReplacement) return std::nullopt;
    const std::string_view result = text.substr(0, end);
    return unicode::is_valid(result) ? std::optional(result) : std::nullopt;
  }

  static void replace(std::string_view from, std::string_view to, Changes& changes) {
    const auto old_count = static_cast<std::int32_t>(unicode::count_code_points(from));
    std::int32_t new_count = 0;
    if (changes.size() > kLongestText) return;
    for (std::size_t at = 0; at < to.size(); ++new_count) {
      const unicode::Decoded character = unicode::decode(to, at);
      changes.push_back({character.code_point, 0});
      at += character.length;
    }
    const std::int32_t added = new_count - old_count;
    for (std::int32_t i = 0; i < added; ++i) changes[changes.size() - 1 - static_cast<std::size_t>(i)].change = 1;
    if (added < 0 && !changes.empty()) changes.back().change += added;
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
  std::array<bool, 128> ascii_changes_{};
};

}  // namespace

Made make_precompiled(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"precompiled_charsmap"}));
  const std::string path = config.path_of("precompiled_charsmap");
  WEIR_ASSIGN_OR_RETURN(const std::string_view encoded, config.string("precompiled_charsmap"));
  const std::optional<std::string> bytes = from_base64(encoded);
  if (!bytes) return Error(ErrorKind::kCorrupt, path + ": not base64", path);
  std::uint32_t trie_bytes = 0;
  if (bytes->size() >= sizeof trie_bytes) std::memcpy(&trie_bytes, bytes->data(), sizeof trie_bytes);
  if (trie_bytes < sizeof(std::uint32_t) || trie_bytes % sizeof(std::uint32_t) != 0 ||
      trie_bytes > bytes->size() - sizeof trie_bytes) {
    return Error(ErrorKind::kCorrupt, path + ": its length contradicts its contents", path);
  }
  std::vector<std::uint32_t> units(trie_bytes / sizeof(std::uint32_t));
  std::memcpy(units.data(), bytes->data() + sizeof trie_bytes, trie_bytes);
  return std::unique_ptr<Normalizer>(
      std::make_unique<Precompiled>(std::move(units), bytes->substr(sizeof trie_bytes + trie_bytes)));
}

}  // namespace weir::tokenizers::normalizers
