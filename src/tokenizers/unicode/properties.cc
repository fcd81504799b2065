#include "tokenizers/unicode/properties.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weir::tokenizers::unicode {

namespace {

struct CodePointRange {
  char32_t first;
  char32_t last;
};
struct CombiningClassRange {
  char32_t first;
  char32_t last;
  std::uint8_t combining_class;
};
struct Composition {
  char32_t first;
  char32_t second;
  char32_t composed;
};

#include "tokenizers/unicode/tables.inc"

/// The ranges that the original BERT tokenizer calls Chinese.
constexpr CodePointRange kChineseRanges[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                                             {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF},
                                             {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};

constexpr std::uint32_t kBlockSize = 256;

// Hangul syllables are composed and decomposed by arithmetic (the Unicode standard, section 3.12).
constexpr char32_t kHangulBase = 0xAC00;
constexpr char32_t kLeadBase = 0x1100;
constexpr char32_t kVowelBase = 0x1161;
constexpr char32_t kTrailBase = 0x11A7;
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTrailCount = 28;
constexpr char32_t kHangulCount = kLeadCount * kVowelCount * kTrailCount;

char32_t compose_hangul(char32_t first, char32_t second) {
  if (first - kLeadBase < kLeadCount && second - kVowelBase < kVowelCount) {
    return kHangulBase + ((first - kLeadBase) * kVowelCount + (second - kVowelBase)) * kTrailCount;
  }
  const bool has_no_trail = first - kHangulBase < kHangulCount && (first - kHangulBase) % kTrailCount == 0;
  if (has_no_trail && second > kTrailBase && second - kTrailBase < kTrailCount) return first + (second - kTrailBase);
  return 0;
}

}  // namespace

/// Unpacks the ranges into blocks of 256 code points, then keeps one of each kind of block: long runs of one script
/// share theirs.
class PropertiesBuilder {
 public:
  Properties build() {
    points_.resize(kBlockSize);
    properties_.offsets_ = {0, 0};
    add_classes();
    for (const auto& range : kCombiningClasses) {
      for (char32_t c = range.first; c <= range.last; ++c) at(c).combining_class = range.combining_class;
    }
    add_mapping(kLowerCase, &CodePoint::lower);
    add_mapping(kCanonicalDecomposition, &CodePoint::canonical);
    add_mapping(kCompatibilityDecomposition, &CodePoint::compatible);
    add_unstable();
    share_blocks();
    return std::move(properties_);
  }

 private:
  CodePoint& at(char32_t code_point) {
    std::uint16_t& block = properties_.blocks_[code_point / kBlockSize];
    if (block == 0) {
      block = static_cast<std::uint16_t>(points_.size() / kBlockSize);
      points_.resize(points_.size() + kBlockSize);
    }
    return points_[block * kBlockSize + code_point % kBlockSize];
  }

  void add_class(std::span<const CodePointRange> ranges, Class bit) {
    for (const auto& range : ranges) {
      for (char32_t c = range.first; c <= range.last; ++c) at(c).classes |= bit;
    }
  }

  void add_classes() {
    add_class(kWhitespaceRanges, kWhitespace);
    add_class(kControlRanges, kControl);
    add_class(kNonspacingMarkRanges, kNonspacingMark);
    add_class(kCombiningMarkRanges, kCombiningMark);
    add_class(kWordRanges, kWord);
    add_class(kPunctuationRanges, kPunctuation);
    add_class(kNumericRanges, kNumeric);
    add_class(kLetterRanges, kLetter);
    add_class(kNumberRanges, kNumber);
    add_class(kRegexSpaceRanges, kRegexSpace);
    add_class(kChineseRanges, kChinese);
  }

  void add_mapping(std::span<const std::uint32_t> table, std::uint16_t CodePoint::*index) {
    for (std::size_t i = 0; i < table.size();) {
      const std::uint32_t length = table[i + 1];
      at(table[i]).*index = static_cast<std::uint16_t>(properties_.offsets_.size() - 1);
      for (std::uint32_t k = 0; k < length; ++k) properties_.mapped_.push_back(table[i + 2 + k]);
      properties_.offsets_.push_back(static_cast<std::uint32_t>(properties_.mapped_.size()));
      i += 2 + length;
    }
  }

  void add_unstable() {
    for (const auto& range : kCombiningClasses) {
      for (char32_t c = range.first; c <= range.last; ++c) at(c).classes |= kNfcUnstable;
    }
    for (char32_t c = kVowelBase; c < kVowelBase + kVowelCount; ++c) at(c).classes |= kNfcUnstable;
    for (char32_t c = kTrailBase + 1; c < kTrailBase + kTrailCount; ++c) at(c).classes |= kNfcUnstable;
    for (const Composition& entry : kCompositions) at(entry.second).classes |= kNfcUnstable;
    for (std::size_t i = 0; i < std::size(kCanonicalDecomposition); i += 2 + kCanonicalDecomposition[i + 1]) {
      const std::span<const std::uint32_t> parts(kCanonicalDecomposition + i + 2, kCanonicalDecomposition[i + 1]);
      char32_t composed = parts[0];
      for (const std::uint32_t part : parts.subspan(1)) composed = properties_.compose(composed, part);
      const bool stable = composed == kCanonicalDecomposition[i] && (at(parts[0]).classes & kNfcUnstable) == 0;
      if (!stable) at(kCanonicalDecomposition[i]).classes |= kNfcUnstable;
    }
  }

  void share_blocks() {
    std::vector<std::uint16_t> kept_as(points_.size() / kBlockSize);
    std::vector<CodePoint>& kept = properties_.points_;
    std::unordered_multimap<std::uint64_t, std::uint16_t> by_hash;
    for (std::size_t block = 0; block < kept_as.size(); ++block) {
      const CodePoint* points = points_.data() + block * kBlockSize;
      const std::uint64_t hash = hash_of(points);
      const auto [first, last] = by_hash.equal_range(hash);
      const auto same = std::find_if(first, last, [&](const auto& entry) {
        return std::equal(points, points + kBlockSize, kept.data() + entry.second * kBlockSize);
      });
      if (same != last) {
        kept_as[block] = same->second;
      } else {
        kept_as[block] = static_cast<std::uint16_t>(kept.size() / kBlockSize);
        by_hash.emplace(hash, kept_as[block]);
        kept.insert(kept.end(), points, points + kBlockSize);
      }
    }
    for (std::uint16_t& block : properties_.blocks_) block = kept_as[block];
  }

  static std::uint64_t hash_of(const CodePoint* points) {
    std::uint64_t hash = 0;
    for (std::uint32_t i = 0; i < kBlockSize; ++i) {
      hash = (hash ^ points[i].classes ^ (static_cast<std::uint64_t>(points[i].lower) << 16) ^
              (static_cast<std::uint64_t>(points[i].canonical) << 32) ^
              (static_cast<std::uint64_t>(points[i].compatible) << 48)) *
             0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return hash;
  }

  Properties properties_;
  std::vector<CodePoint> points_;
};

char32_t Properties::compose(char32_t first, char32_t second) const {
  if (const char32_t hangul = compose_hangul(first, second)) return hangul;
  const auto before = [](const Composition& entry, const std::pair<char32_t, char32_t>& key) {
    return std::pair(entry.first, entry.second) < key;
  };
  const auto* const end = std::end(kCompositions);
  const auto* found = std::lower_bound(std::begin(kCompositions), end, std::pair(first, second), before);
  return found != end && found->first == first && found->second == second ? found->composed : 0;
}

const Properties& properties() {
  static const Properties instance = PropertiesBuilder().build();
  return instance;
}

}  // namespace weir::tokenizers::unicode
