#include "base/utf8.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

std::string replacements(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += kReplacement;
  return out;
}

TEST(Utf8, ValidTextStays) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 \xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF";
  EXPECT_EQ(replace_invalid_utf8(text), text);
  EXPECT_EQ(replace_invalid_utf8(""), "");
  EXPECT_EQ(replace_invalid_utf8(std::string_view("\0x", 2)), std::string("\0x", 2));
}

TEST(Utf8, OneReplacementPerMaximalInvalidPart) {
  EXPECT_EQ(replace_invalid_utf8("a\xFFz"), std::string("a") + kReplacement + "z");
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF"), replacements(2));            // overlong '/'
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), replacements(3));        // surrogate
  EXPECT_EQ(replace_invalid_utf8("\xF4\x90\x80\x80"), replacements(4));    // above U+10FFFF
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82"), replacements(1));            // cut short
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98"), replacements(1));        // cut short
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82\x41"), replacements(1) + "A");  // broken off
  EXPECT_EQ(replace_invalid_utf8("\x80\x80"), replacements(2));            // continuation bytes alone
}

TEST(Utf8, LengthOfTheFirstSequence) {
  EXPECT_EQ(valid_utf8_length(""), 0u);
  EXPECT_EQ(valid_utf8_length("ab"), 1u);
  EXPECT_EQ(valid_utf8_length("\xE2\x82\xAC!"), 3u);
  EXPECT_EQ(valid_utf8_length("\xE2\x82"), 0u);
  EXPECT_EQ(invalid_utf8_length("\xE2\x82"), 2u);
  EXPECT_EQ(invalid_utf8_length("\xFF"), 1u);
}

TEST(Utf8, CutsBeforeAStartedSequence) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abc", 2), "ab");
  EXPECT_EQ(cut_utf8("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(cut_utf8("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
  EXPECT_EQ(cut_utf8("\x80\x80\x80\x80\x80", 4), "\x80");
  EXPECT_EQ(cut_utf8("abc", 0), "");
}

}  // namespace
}  // namespace weir
