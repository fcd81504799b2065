#include "tokenizers/unicode/regex_classes.h"

#include <gtest/gtest.h>

namespace weir::tokenizers::unicode {
namespace {

bool contains(const std::optional<CodePointSet>& set, char32_t code_point) {
  if (!set) return false;
  for (const CodePointRange& range : *set) {
    if (code_point >= range.first && code_point <= range.last) return true;
  }
  return false;
}

std::size_t size_of(const std::optional<CodePointSet>& set) {
  std::size_t size = 0;
  for (const CodePointRange& range : set.value_or(CodePointSet{})) size += range.last - range.first + 1;
  return size;
}

TEST(RegexClasses, KnowWhatIsNewerThanOldIcus) {
  EXPECT_TRUE(contains(property_class("P"), 0x1B7F));       // Unicode 16
  EXPECT_TRUE(contains(property_class("So"), 0x2429));      // Unicode 16
  EXPECT_TRUE(contains(property_class("Garay"), 0x10D4A));  // Unicode 16
  EXPECT_TRUE(contains(property_class("Lo"), 0x2EBF0));     // Unicode 15.1
}

TEST(RegexClasses, CompareNamesAsOnigurumaDoes) {
  EXPECT_EQ(property_class("uppercase letter"), property_class("Lu"));
  EXPECT_EQ(property_class("Uppercase_Letter"), property_class("LU"));
  EXPECT_EQ(property_class("canadian-aboriginal"), property_class("Cans"));
  EXPECT_FALSE(property_class("Klingon").has_value());
  EXPECT_FALSE(property_class("").has_value());
  EXPECT_FALSE(bracket_class("Punct").has_value());
}

TEST(RegexClasses, AreSortedWithGapsBetweenRanges) {
  for (const char* name : {"Any", "L", "Cn", "Word", "Alnum", "Han", "Zyyy", "Emoji", "C"}) {
    const CodePointSet set = property_class(name).value();
    ASSERT_FALSE(set.empty()) << name;
    for (std::size_t i = 1; i < set.size(); ++i) EXPECT_GT(set[i].first, set[i - 1].last + 1) << name;
  }
}

TEST(RegexClasses, CategoriesPartTheCodePoints) {
  constexpr std::size_t kAll = 0x110000;
  EXPECT_EQ(property_class("Any").value(), (CodePointSet{{0, 0x10FFFF}}));
  std::size_t sum = 0;
  for (const char* name : {"L", "M", "N", "P", "S", "Z", "C"}) sum += size_of(property_class(name));
  EXPECT_EQ(sum, kAll);
  EXPECT_EQ(size_of(property_class("Assigned")) + size_of(property_class("Cn")), kAll);
}

TEST(RegexClasses, TellWordsOfBracketsFromWordsAlone) {
  EXPECT_TRUE(contains(property_class("Word"), 0xB2));
  EXPECT_FALSE(contains(bracket_class("word"), 0xB2));
  EXPECT_TRUE(contains(bracket_class("punct"), U'$'));
  EXPECT_FALSE(contains(property_class("Punct"), U'$'));
}

}  // namespace
}  // namespace weir::tokenizers::unicode
