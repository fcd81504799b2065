#include <gtest/gtest.h>

#include "tokenizers/models/model.h"

namespace weir::tokenizers {
namespace {

class WordPieceTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Model>> make(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "model");
    return make_model(*config);
  }
  static std::vector<Token> tokens(const Model& model, std::string_view piece, std::uint32_t base = 0) {
    std::vector<Token> result;
    EXPECT_TRUE(model.tokenize(piece, base, result).ok());
    return result;
  }
  simdjson::dom::parser parser_;
};

constexpr std::string_view kModel = R"({"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##",
  "max_input_chars_per_word": 6, "vocab": {"?": 0, "un": 1, "##aff": 2, "##able": 3, "una": 4, "##é": 5, "a": 6, "##": 7}})";

TEST_F(WordPieceTest, TakesTheLongestTokenEachTime) {
  const auto model = make(kModel);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(tokens(**model, "un"), (std::vector<Token>{{1, 0, 2}}));
  EXPECT_EQ(tokens(**model, "aaff", 10), (std::vector<Token>{{6, 10, 11}, {2, 11, 14}}));
  EXPECT_EQ(tokens(**model, "aéé"), (std::vector<Token>{{6, 0, 1}, {5, 1, 3}, {5, 3, 5}}));
}

TEST_F(WordPieceTest, IsGreedyAndNeverGoesBack) {
  const auto model = make(kModel);
  EXPECT_EQ(tokens(**model, "unaff"), (std::vector<Token>{{0, 0, 5}}));  // "una" leaves "ff", which begins no token.
}

TEST_F(WordPieceTest, CountsCharactersNotBytes) {
  const auto model = make(kModel);
  EXPECT_EQ(tokens(**model, "aééééé").size(), 6u);
  EXPECT_EQ(tokens(**model, "aéééééé"), (std::vector<Token>{{0, 0, 13}}));
  EXPECT_EQ(tokens(**model, "unaffable"), (std::vector<Token>{{0, 0, 9}}));
}

TEST_F(WordPieceTest, FailsOnlyWhenAnUnknownTokenIsNeeded) {
  const auto model = make(R"({"type": "WordPiece", "vocab": {"a": 0}})");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(tokens(**model, "a").size(), 1u);
  std::vector<Token> result;
  const Status status = (*model)->tokenize("b", 0, result);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kTokenizer);
  EXPECT_TRUE(result.empty());
}

TEST_F(WordPieceTest, WorksWithAnEmptyPrefixAndAnEmptyVocabulary) {
  const auto plain = make(R"({"type": "WordPiece", "continuing_subword_prefix": "", "vocab": {"a": 0, "ab": 1}})");
  EXPECT_EQ(tokens(**plain, "aab"), (std::vector<Token>{{0, 0, 1}, {1, 1, 3}}));
  std::vector<Token> result;
  EXPECT_FALSE((*make(R"({"type": "WordPiece", "vocab": {}})"))->tokenize("a", 0, result).ok());
}

TEST_F(WordPieceTest, IsToldByItsFieldsInOldFiles) {
  EXPECT_TRUE(make(R"({"unk_token": "?", "continuing_subword_prefix": "##", "vocab": {"?": 0}})").ok());
}

TEST_F(WordPieceTest, RefusesWhatIsWrong) {
  const auto where = [&](std::string_view json) { return make(json).error().where; };
  EXPECT_EQ(where(R"({"type": "WordPiece"})"), "model.vocab");
  EXPECT_EQ(where(R"({"type": "WordPiece", "vocab": []})"), "model.vocab");
  EXPECT_EQ(where(R"({"type": "WordPiece", "vocab": {}, "unk_token": 1})"), "model.unk_token");
  EXPECT_EQ(where(R"({"type": "WordPiece", "vocab": {}, "max_input_chars_per_word": -1})"),
            "model.max_input_chars_per_word");
  EXPECT_EQ(where(R"({"type": "WordPiece", "vocab": {}, "sampling": true})"), "model.sampling");
  EXPECT_EQ(where(R"({"type": "WordPieces", "vocab": {}})"), "model.type");
  EXPECT_EQ(where(R"({})"), "model.type");
}

}  // namespace
}  // namespace weir::tokenizers
