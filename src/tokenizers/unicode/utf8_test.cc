#include "tokenizers/unicode/utf8.h"

#include <gtest/gtest.h>

namespace weir::tokenizers::unicode {
namespace {

TEST(Utf8, RoundTripsTheEdgesOfEveryLength) {
  for (const char32_t c :
       {U'\0', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xD7FF', U'\xE000', U'\xFFFF', U'\x10000', U'\x10FFFF'}) {
    std::string text;
    append(text, c);
    EXPECT_TRUE(is_valid(text));
    const Decoded character = decode(text, 0);
    EXPECT_EQ(character.code_point, c);
    EXPECT_EQ(character.length, text.size());
    EXPECT_EQ(decode_before("x" + text, 1 + text.size()).code_point, c);
    EXPECT_EQ(length_from_lead(static_cast<unsigned char>(text[0])), text.size());
  }
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(count_code_points(""), 0u);
  EXPECT_EQ(count_code_points("aé漢😀"), 4u);
}

TEST(Utf8, KnowsWhatIsValid) {
  for (const char* valid : {"", "abc é 漢 😀"}) EXPECT_TRUE(is_valid(valid)) << valid;
  for (const char* bad : {"\x80", "a\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"})
    EXPECT_FALSE(is_valid(bad));
}

}  // namespace
}  // namespace weir::tokenizers::unicode
