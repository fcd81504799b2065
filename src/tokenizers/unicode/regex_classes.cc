#include "tokenizers/unicode/regex_classes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace weir::tokenizers::unicode {
namespace {

struct ClassRange {
  char32_t first;
  char32_t last;
  std::uint8_t index;
};
struct ScriptName {
  std::string_view name;
  std::uint8_t index;
};

#include "tokenizers/unicode/regex_tables.inc"

constexpr char32_t kLastCodePoint = 0x10FFFF;

/// General categories in the order of kCategories, then the one that the table leaves out.
enum Category : std::uint8_t {
  kLu,
  kLl,
  kLt,
  kLm,
  kLo,
  kMn,
  kMc,
  kMe,
  kNd,
  kNl,
  kNo,
  kPc,
  kPd,
  kPs,
  kPe,
  kPi,
  kPf,
  kPo,
  kSm,
  kSc,
  kSk,
  kSo,
  kZs,
  kZl,
  kZp,
  kCc,
  kCf,
  kCo,
  kCn
};

using Categories = std::uint32_t;

template <class... Each>
constexpr Categories any_of(Each... categories) {
  return ((Categories{1} << categories) | ...);
}

constexpr Categories kCasedLetter = any_of(kLu, kLl, kLt);
constexpr Categories kLetter = kCasedLetter | any_of(kLm, kLo);
constexpr Categories kMark = any_of(kMn, kMc, kMe);
constexpr Categories kNumber = any_of(kNd, kNl, kNo);
constexpr Categories kPunctuation = any_of(kPc, kPd, kPs, kPe, kPi, kPf, kPo);
constexpr Categories kSymbol = any_of(kSm, kSc, kSk, kSo);
constexpr Categories kSeparator = any_of(kZs, kZl, kZp);
constexpr Categories kOther = any_of(kCc, kCf, kCo, kCn);
constexpr Categories kAll = kLetter | kMark | kNumber | kPunctuation | kSymbol | kSeparator | kOther;
constexpr Categories kVisible = kAll & ~(kSeparator | any_of(kCc, kCn));

/// A class that is made of categories, of tables, or of both.
struct NamedClass {
  std::string_view name;
  Categories categories = 0;
  std::span<const CodePointRange> others{};
  std::span<const CodePointRange> more{};
};

constexpr CodePointRange kLineControls[] = {{0x9, 0xD}, {0x85, 0x85}};
constexpr CodePointRange kTab[] = {{0x9, 0x9}};
constexpr CodePointRange kHexDigits[] = {{0x30, 0x39}, {0x41, 0x46}, {0x61, 0x66}};
constexpr CodePointRange kAscii[] = {{0x0, 0x7F}};
/// Numbers that \w and \p{Word} have, but [\w] and [:word:] do not.
constexpr CodePointRange kWordAlone[] = {{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}};

constexpr Categories kWordCategories = kMark | any_of(kNd, kPc);

constexpr NamedClass kBracketClasses[] = {
    {"alnum", any_of(kNd), kAlphabetic},
    {"alpha", 0, kAlphabetic},
    {"ascii", 0, kAscii},
    {"blank", any_of(kZs), kTab},
    {"cntrl", any_of(kCc)},
    {"digit", any_of(kNd)},
    {"graph", kVisible},
    {"lower", 0, kLowercase},
    {"print", kVisible | any_of(kZs)},
    {"punct", kPunctuation | kSymbol},
    {"space", kSeparator, kLineControls},
    {"upper", 0, kUppercase},
    {"word", kWordCategories, kAlphabetic},
    {"xdigit", 0, kHexDigits},
};

/// Names as Oniguruma compares them: lower case, without spaces, hyphens and underscores.
constexpr NamedClass kProperties[] = {
    {"lu", any_of(kLu)},
    {"uppercaseletter", any_of(kLu)},
    {"ll", any_of(kLl)},
    {"lowercaseletter", any_of(kLl)},
    {"lt", any_of(kLt)},
    {"titlecaseletter", any_of(kLt)},
    {"lc", kCasedLetter},
    {"casedletter", kCasedLetter},
    {"lm", any_of(kLm)},
    {"modifierletter", any_of(kLm)},
    {"lo", any_of(kLo)},
    {"otherletter", any_of(kLo)},
    {"l", kLetter},
    {"letter", kLetter},
    {"mn", any_of(kMn)},
    {"nonspacingmark", any_of(kMn)},
    {"mc", any_of(kMc)},
    {"spacingmark", any_of(kMc)},
    {"me", any_of(kMe)},
    {"enclosingmark", any_of(kMe)},
    {"m", kMark},
    {"mark", kMark},
    {"combiningmark", kMark},
    {"nd", any_of(kNd)},
    {"decimalnumber", any_of(kNd)},
    {"digit", any_of(kNd)},
    {"nl", any_of(kNl)},
    {"letternumber", any_of(kNl)},
    {"no", any_of(kNo)},
    {"othernumber", any_of(kNo)},
    {"n", kNumber},
    {"number", kNumber},
    {"pc", any_of(kPc)},
    {"connectorpunctuation", any_of(kPc)},
    {"pd", any_of(kPd)},
    {"dashpunctuation", any_of(kPd)},
    {"ps", any_of(kPs)},
    {"openpunctuation", any_of(kPs)},
    {"pe", any_of(kPe)},
    {"closepunctuation", any_of(kPe)},
    {"pi", any_of(kPi)},
    {"initialpunctuation", any_of(kPi)},
    {"pf", any_of(kPf)},
    {"finalpunctuation", any_of(kPf)},
    {"po", any_of(kPo)},
    {"otherpunctuation", any_of(kPo)},
    {"p", kPunctuation},
    {"punct", kPunctuation},
    {"punctuation", kPunctuation},
    {"sm", any_of(kSm)},
    {"mathsymbol", any_of(kSm)},
    {"sc", any_of(kSc)},
    {"currencysymbol", any_of(kSc)},
    {"sk", any_of(kSk)},
    {"modifiersymbol", any_of(kSk)},
    {"so", any_of(kSo)},
    {"othersymbol", any_of(kSo)},
    {"s", kSymbol},
    {"symbol", kSymbol},
    {"zs", any_of(kZs)},
    {"spaceseparator", any_of(kZs)},
    {"zl", any_of(kZl)},
    {"lineseparator", any_of(kZl)},
    {"zp", any_of(kZp)},
    {"paragraphseparator", any_of(kZp)},
    {"z", kSeparator},
    {"separator", kSeparator},
    {"cc", any_of(kCc)},
    {"control", any_of(kCc)},
    {"cntrl", any_of(kCc)},
    {"cf", any_of(kCf)},
    {"format", any_of(kCf)},
    {"co", any_of(kCo)},
    {"privateuse", any_of(kCo)},
    {"cn", any_of(kCn)},
    {"unassigned", any_of(kCn)},
    {"c", kOther},
    {"other", kOther},
    {"any", kAll},
    {"assigned", kAll & ~any_of(kCn)},
    {"ascii", 0, kAscii},
    {"alphabetic", 0, kAlphabetic},
    {"alpha", 0, kAlphabetic},
    {"uppercase", 0, kUppercase},
    {"upper", 0, kUppercase},
    {"lowercase", 0, kLowercase},
    {"lower", 0, kLowercase},
    {"whitespace", kSeparator, kLineControls},
    {"space", kSeparator, kLineControls},
    {"word", kWordCategories, kAlphabetic, kWordAlone},
    {"alnum", any_of(kNd), kAlphabetic},
    {"ideographic", 0, kIdeographic},
    {"emoji", 0, kEmoji},
    {"emojipresentation", 0, kEmojiPresentation},
    {"emojimodifier", 0, kEmojiModifier},
    {"emojimodifierbase", 0, kEmojiModifierBase},
    {"emojicomponent", 0, kEmojiComponent},
    {"extendedpictographic", 0, kExtendedPictographic},
};

class SetBuilder {
 public:
  void add(char32_t first, char32_t last) { ranges_.push_back({first, last}); }

  void add(std::span<const CodePointRange> ranges) { ranges_.insert(ranges_.end(), ranges.begin(), ranges.end()); }

  void add(Categories categories) {
    char32_t listed_to = 0;
    for (const ClassRange& range : kCategories) {
      if ((categories >> kCn & 1) != 0 && range.first > listed_to) add(listed_to, range.first - 1);
      if ((categories >> range.index & 1) != 0) add(range.first, range.last);
      listed_to = range.last + 1;
    }
    if ((categories >> kCn & 1) != 0 && listed_to <= kLastCodePoint) add(listed_to, kLastCodePoint);
  }

  CodePointSet build() && {
    std::ranges::sort(ranges_, {}, &CodePointRange::first);
    CodePointSet set;
    for (const CodePointRange& range : ranges_) {
      if (!set.empty() && range.first <= set.back().last + 1) {
        set.back().last = std::max(set.back().last, range.last);
      } else {
        set.push_back(range);
      }
    }
    return set;
  }

 private:
  std::vector<CodePointRange> ranges_;
};

std::optional<CodePointSet> find_class(std::span<const NamedClass> classes, std::string_view name) {
  const auto found = std::ranges::find(classes, name, &NamedClass::name);
  if (found == classes.end()) return std::nullopt;
  SetBuilder builder;
  builder.add(found->categories);
  builder.add(found->others);
  builder.add(found->more);
  return std::move(builder).build();
}

std::optional<CodePointSet> find_script(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kScriptNames, name, {}, &ScriptName::name);
  if (found == std::end(kScriptNames) || found->name != name) return std::nullopt;
  SetBuilder builder;
  for (const ClassRange& range : kScripts) {
    if (range.index == found->index) builder.add(range.first, range.last);
  }
  return std::move(builder).build();
}

std::string comparable(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != ' ' && c != '-' && c != '_') result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

}  // namespace

std::optional<CodePointSet> property_class(std::string_view name) {
  const std::string key = comparable(name);
  std::optional<CodePointSet> found = find_class(kProperties, key);
  return found ? found : find_script(key);
}

std::optional<CodePointSet> bracket_class(std::string_view name) { return find_class(kBracketClasses, name); }

}  // namespace weir::tokenizers::unicode
