#include <gtest/gtest.h>

#include "tokenizers/models/model.h"

namespace weir::tokenizers {
namespace {

class UnigramTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Model>> make(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "model");
    return make_model(*config);
  }
  static std::vector<Token> tokens(const Model& model, std::string_view piece, std::uint32_t base = 0) {
    std::vector<Token> result;
    EXPECT_TRUE(model.tokenize(piece, base, result).ok());
    std::vector<Token> again;  // From the cache.
    EXPECT_TRUE(model.tokenize(piece, base, again).ok());
    EXPECT_EQ(result, again);
    return result;
  }
  simdjson::dom::parser parser_;
};

constexpr std::string_view kModel = R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", 0.0], ["b", 0.0],
  ["c", 0.0], ["d", 0.0], ["cd", 1.0], ["ab", 2.0], ["abc", 5.0], ["abcd", 10.0]]})";

TEST_F(UnigramTest, TakesTheBestSum) {
  const auto model = make(kModel);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(tokens(**model, "abcdacd", 5), (std::vector<Token>{{8, 5, 9}, {1, 9, 10}, {5, 10, 12}}));
  EXPECT_EQ(tokens(**model, "abd"), (std::vector<Token>{{6, 0, 2}, {4, 2, 3}}));
}

/// What the package gives for them: its reader makes the first two scores the same number, and the last two differ.
TEST_F(UnigramTest, ScoresAreRoundedAsThePackageDoes) {
  const auto even = make(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["x", -7.25442106554148],
    ["y", 0.0], ["xy", -7.2544210655414805]]})");
  ASSERT_TRUE(even.ok());
  EXPECT_EQ(tokens(**even, "xy"), (std::vector<Token>{{3, 0, 2}}));
  const auto uneven = make(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["x", -3.8489016934024187],
    ["y", 0.0], ["xy", -3.8489016934024187], ["z", -3.8489016934024183], ["zy", -3.8489016934024187],
    ["w", -1e-7], ["wy", -1e-07], ["v", -250.0], ["vy", -2.5e2]]})");
  ASSERT_TRUE(uneven.ok());
  EXPECT_EQ(tokens(**uneven, "xy"), (std::vector<Token>{{3, 0, 2}}));
  EXPECT_EQ(tokens(**uneven, "zy"), (std::vector<Token>{{5, 0, 2}}));
  EXPECT_EQ(tokens(**uneven, "wy"), (std::vector<Token>{{7, 0, 2}}));
  EXPECT_EQ(tokens(**uneven, "vy"), (std::vector<Token>{{9, 0, 2}}));
}

TEST_F(UnigramTest, JoinsUnknownCharacters) {
  const auto model = make(kModel);
  EXPECT_EQ(tokens(**model, "axéb"), (std::vector<Token>{{1, 0, 1}, {0, 1, 4}, {2, 4, 5}}));
  EXPECT_EQ(tokens(**model, std::string(100'000, 'x')), (std::vector<Token>{{0, 0, 100'000}}));
}

TEST_F(UnigramTest, FallsBackToBytes) {
  const auto model = make(R"({"type": "Unigram", "unk_id": 0, "byte_fallback": true,
    "vocab": [["<unk>", 0], ["a", 0], ["<0xC3>", 0], ["<0xA9>", 0]]})");
  EXPECT_EQ(tokens(**model, "aé"), (std::vector<Token>{{1, 0, 1}, {2, 1, 3}, {3, 1, 3}}));
  EXPECT_EQ(tokens(**model, "éx"), (std::vector<Token>{{0, 0, 3}}));  // No token for "x": the run stays unknown.
}

TEST_F(UnigramTest, NeedsAnUnknownTokenOnlyForUnknownText) {
  const auto model = make(R"({"type": "Unigram", "unk_id": null, "vocab": [["a", 0]]})");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(tokens(**model, "a").size(), 1u);
  std::vector<Token> result;
  EXPECT_EQ((*model)->tokenize("b", 0, result).error().kind, ErrorKind::kTokenizer);
}

TEST_F(UnigramTest, RefusesWhatIsWrong) {
  const auto where = [&](std::string_view json) { return make(json).error().where; };
  EXPECT_EQ(where(R"({"type": "Unigram"})"), "model.vocab");
  EXPECT_EQ(where(R"({"type": "Unigram", "vocab": {"a": 0}})"), "model.vocab");
  EXPECT_EQ(where(R"({"type": "Unigram", "vocab": [["a"]]})"), "model.vocab");
  EXPECT_EQ(where(R"({"type": "Unigram", "vocab": [["a", "b"]]})"), "model.vocab");
  EXPECT_EQ(where(R"({"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1})"), "model.unk_id");
  EXPECT_EQ(where(R"({"type": "Unigram", "vocab": [], "unk_id": 0})"), "model.vocab");
}

TEST_F(UnigramTest, WordLevelLooksWordsUp) {
  const auto model = make(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "word": 1}})");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(tokens(**model, "word"), (std::vector<Token>{{1, 0, 4}}));
  EXPECT_EQ(tokens(**model, "other"), (std::vector<Token>{{0, 0, 5}}));
}

}  // namespace
}  // namespace weir::tokenizers
