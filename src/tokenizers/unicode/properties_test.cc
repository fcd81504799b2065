#include "tokenizers/unicode/properties.h"

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "tokenizers/unicode/normalization.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::unicode {
namespace {

std::u32string mapped(std::uint16_t index) {
  const auto points = properties().mapping(index);
  return {points.begin(), points.end()};
}

std::string normalized(Form form, std::string_view text) {
  std::vector<Change> changes;
  normalize(form, text, changes);
  std::string result;
  for (const Change& change : changes) append(result, change.code_point);
  return result;
}

TEST(Properties, KnowsClasses) {
  const Properties& table = properties();
  EXPECT_TRUE(table.has(U' ', kWhitespace));
  EXPECT_TRUE(table.has(0x3000, kWhitespace));
  EXPECT_FALSE(table.has(0x200B, kWhitespace));
  EXPECT_TRUE(table.has(0x200B, kControl));
  EXPECT_FALSE(table.has(U'\n', kControl));
  EXPECT_TRUE(table.has(0x301, kNonspacingMark));
  EXPECT_TRUE(table.has(0x93E, kCombiningMark));
  EXPECT_FALSE(table.has(0x93E, kNonspacingMark));
  EXPECT_TRUE(table.has(U'$', kPunctuation));
  EXPECT_TRUE(table.has(0x2014, kPunctuation));
  EXPECT_FALSE(table.has(0x20AC, kPunctuation));
  EXPECT_TRUE(table.has(0x4E00, kChinese | kPunctuation));
  EXPECT_FALSE(table.has(0x3042, kChinese));
  EXPECT_TRUE(table.has(0x10FFFF, kWord) == false);
}

TEST(Properties, MapsCase) {
  EXPECT_EQ(mapped(properties()[U'A'].lower), U"a");
  EXPECT_EQ(mapped(properties()[0x130].lower), U"i\u0307");
  EXPECT_EQ(properties()[U'a'].lower, 0);
}

TEST(Properties, ComposesPairsAndHangul) {
  EXPECT_EQ(properties().compose(U'e', 0x301), 0xE9u);
  EXPECT_EQ(properties().compose(U'e', U'e'), 0u);
  EXPECT_EQ(properties().compose(0x1100, 0x1161), 0xAC00u);
  EXPECT_EQ(properties().compose(0xAC00, 0x11A8), 0xAC01u);
  EXPECT_EQ(properties().compose(0xAC00, 0x11A7), 0u);
  EXPECT_EQ(properties().compose(0xAC01, 0x11A8), 0u);
}

TEST(Properties, MayBeReadByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { EXPECT_TRUE(properties().has(U' ', kWhitespace)); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Normalization, HasFourForms) {
  EXPECT_EQ(normalized(Form::kNfd, "é"), "e\u0301");
  EXPECT_EQ(normalized(Form::kNfc, "e\u0301"), "é");
  EXPECT_EQ(normalized(Form::kNfkd, "ﬁ²"), "fi2");
  EXPECT_EQ(normalized(Form::kNfkc, "ﬁe\u0301"), "fié");
  EXPECT_EQ(normalized(Form::kNfd, "ﬁ"), "ﬁ");
  EXPECT_EQ(normalized(Form::kNfd, "한"), "\u1112\u1161\u11AB");
  EXPECT_EQ(normalized(Form::kNfc, "\u1112\u1161\u11AB"), "한");
  EXPECT_EQ(normalized(Form::kNfc, ""), "");
}

TEST(Normalization, OrdersMarksAndKeepsThoseOfOneClass) {
  EXPECT_EQ(normalized(Form::kNfd, "a\u0301\u0323\u0300"), "a\u0323\u0301\u0300");
  EXPECT_EQ(normalized(Form::kNfd, "\u0301\u0323"), "\u0323\u0301");
}

TEST(Normalization, DoesNotComposeAcrossABlockingMark) {
  EXPECT_EQ(normalized(Form::kNfc, "a\u0300\u0301"), "à\u0301");
  EXPECT_EQ(normalized(Form::kNfc, "\u0301e"), "\u0301e");
  EXPECT_EQ(normalized(Form::kNfc, "e\u0327\u0301"), "ȩ\u0301");
}

TEST(Normalization, TellsWhatEachCharacterReplaces) {
  std::vector<Change> changes;
  normalize(Form::kNfc, "e\u0301x", changes);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].change, -1);
  EXPECT_EQ(changes[1].change, 0);
  changes.clear();
  normalize(Form::kNfd, "é", changes);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].change, 0);
  EXPECT_EQ(changes[1].change, 1);
}

bool stays(std::string_view text) {
  std::vector<Change> changes;
  normalize(Form::kNfc, text, changes);
  std::string result;
  for (const Change& change : changes) append(result, change.code_point);
  return result == text && std::all_of(changes.begin(), changes.end(), [](const Change& c) { return c.change == 0; });
}

TEST(Normalization, KnowsTextThatNfcLeavesAsItIs) {
  EXPECT_TRUE(is_nfc("Zürich, Ærøskøbing, ὈΔΥΣΣΕΎΣ, ёлка, 日本語, カタカナ, 한국어, नाम, ﬁ, ½ 👍🏽"));
  for (const std::string_view text :
       {"e\u0301", "\u212B", "\u0301\u0323", "\u0344", "\u1112\u1161", "하\u11AB", "\uFA10", "\u0958"}) {
    EXPECT_FALSE(is_nfc(text)) << text;
  }
}

TEST(Normalization, WhatIsKnownToBeNfcStaysForEveryCodePoint) {
  // Each alone, and behind starters that join with what may follow them.
  const std::string_view before[] = {"", "e", "Ê", "가", "\u1112", "か", "\u09C7", "\u0DD9", "\U00011131"};
  std::size_t known = 0;
  for (char32_t c = 1; c < 0x2FA20; ++c) {
    if (c == 0xD800) c = 0xE000;
    if (c == 0x20000) c = 0x2F800;  // Ideographs, and nothing that changes, lie between.
    for (const std::string_view starter : before) {
      std::string text(starter);
      append(text, c);
      if (!is_nfc(text)) continue;
      ++known;
      ASSERT_TRUE(stays(text)) << text << " U+" << std::hex << static_cast<std::uint32_t>(c);
    }
  }
  EXPECT_GT(known, 1'000'000u);
}

}  // namespace
}  // namespace weir::tokenizers::unicode
