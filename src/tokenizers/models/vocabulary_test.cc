#include "tokenizers/models/vocabulary.h"

#include <gtest/gtest.h>

namespace weir::tokenizers {
namespace {

TEST(Vocabulary, FindsBothWays) {
  Vocabulary vocabulary;
  for (std::int32_t i = 0; i < 5000; ++i) vocabulary.add("t" + std::to_string(i), i * 2);
  EXPECT_EQ(vocabulary.tokens(), 5000u);
  EXPECT_EQ(vocabulary.ids(), 9999u);
  for (std::int32_t i = 0; i < 5000; ++i) {
    EXPECT_EQ(vocabulary.find_id("t" + std::to_string(i)), i * 2);
    EXPECT_EQ(vocabulary.token(i * 2), "t" + std::to_string(i));
  }
  EXPECT_EQ(vocabulary.find("t5000"), std::nullopt);
  EXPECT_FALSE(vocabulary.has_id(1));
  EXPECT_FALSE(vocabulary.has_id(-1));
  EXPECT_FALSE(vocabulary.has_id(9999));
}

TEST(Vocabulary, IsEmptyAtFirst) {
  EXPECT_EQ(Vocabulary().find("a"), std::nullopt);
  EXPECT_EQ(Vocabulary().ids(), 0u);
}

TEST(Vocabulary, TakesTheLastOfEqualTokens) {
  Vocabulary vocabulary;
  vocabulary.add("a", 1);
  vocabulary.add("a", 2);
  EXPECT_EQ(vocabulary.find_id("a"), 2);
  EXPECT_EQ(vocabulary.tokens(), 1u);
}

TEST(Vocabulary, SurvivesBeingMoved) {
  Vocabulary first;
  first.add("short", 1);
  const Vocabulary second = std::move(first);
  EXPECT_EQ(second.find_id("short"), 1);
  EXPECT_EQ(second.token(1), "short");
}

TEST(Vocabulary, RefusesWhatIsNoVocabulary) {
  simdjson::dom::parser parser;
  const auto read = [&](std::string_view json) {
    return Vocabulary::from_object(parser.parse(json.data(), json.size()).value(), "model.vocab");
  };
  EXPECT_TRUE(read(R"({"a": 0})").ok());
  for (const char* bad : {"[]", R"({"a": -1})", R"({"a": "0"})", R"({"a": 1.5})", R"({"a": 16777216})"}) {
    ASSERT_FALSE(read(bad).ok()) << bad;
    EXPECT_EQ(read(bad).error().kind, ErrorKind::kCorrupt);
    EXPECT_EQ(read(bad).error().where, "model.vocab");
  }
}

}  // namespace
}  // namespace weir::tokenizers
