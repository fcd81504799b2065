#include <gtest/gtest.h>

#include "tokenizers/models/model.h"
#include "tokenizers/models/piece_cache.h"

namespace weir::tokenizers {
namespace {

class BpeTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Model>> make(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "model");
    return make_model(*config);
  }
  static std::vector<Token> tokens(const Model& model, std::string_view piece) {
    std::vector<Token> result;
    EXPECT_TRUE(model.tokenize(piece, 0, result).ok());
    std::vector<Token> again;  // From the cache.
    EXPECT_TRUE(model.tokenize(piece, 0, again).ok());
    EXPECT_EQ(result, again);
    return result;
  }
  static std::vector<std::int32_t> ids(const Model& model, std::string_view piece) {
    std::vector<std::int32_t> result;
    for (const Token& token : tokens(model, piece)) result.push_back(token.id);
    return result;
  }
  simdjson::dom::parser parser_;
};

using Ids = std::vector<std::int32_t>;

constexpr std::string_view kModel =
    R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5, "é": 6},
  "merges": ["b c", "a b", "ab c"]})";

TEST_F(BpeTest, JoinsInTheOrderOfTheMerges) {
  const auto model = make(kModel);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(tokens(**model, "ab"), (std::vector<Token>{{3, 0, 2}}));
  EXPECT_EQ(tokens(**model, "abc"), (std::vector<Token>{{0, 0, 1}, {4, 1, 3}}));  // "b c" comes first.
  EXPECT_EQ(ids(**model, "abab"), (Ids{3, 3}));
  EXPECT_EQ(tokens(**model, "éab"), (std::vector<Token>{{6, 0, 2}, {3, 2, 4}}));
}

TEST_F(BpeTest, ReadsBothFormsOfMerges) {
  const auto model = make(R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]})");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(ids(**model, "ab"), Ids{2});
}

TEST_F(BpeTest, ManyMergesOfOneWord) {
  const auto model = make(R"({"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2}, "merges": ["a a", "aa aa"]})");
  EXPECT_EQ(ids(**model, std::string(7, 'a')), (Ids{2, 1, 0}));
  EXPECT_EQ(ids(**model, std::string(100'000, 'a')).size(), 25'000u);
}

TEST_F(BpeTest, FindsCharactersOfAllPlanes) {
  const auto model =
      make(R"({"type": "BPE", "vocab": {"?": 0, "a": 1, "é": 2, "語": 3, "\uffff": 4, "𐐀": 5, "😀": 6, "語😀": 7},
    "merges": ["語 😀"], "unk_token": "?"})");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(ids(**model, "aé語\uffff𐐀😀"), (Ids{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ids(**model, "語😀"), Ids{7});
  EXPECT_EQ(ids(**model, "bЖ\ufffe𐐁"), (Ids{0, 0, 0, 0}));
}

TEST_F(BpeTest, UnknownCharactersAreLeftOutFusedOrBytes) {
  EXPECT_EQ(tokens(**make(kModel), "axb"), (std::vector<Token>{{3, 0, 2}}));
  const auto plain = make(R"({"type": "BPE", "vocab": {"a": 0, "?": 1}, "merges": [], "unk_token": "?"})");
  EXPECT_EQ(ids(**plain, "xyax"), (Ids{1, 1, 0, 1}));
  const auto fused =
      make(R"({"type": "BPE", "vocab": {"a": 0, "?": 1}, "merges": [], "unk_token": "?", "fuse_unk": true})");
  EXPECT_EQ(tokens(**fused, "xéax"), (std::vector<Token>{{1, 0, 3}, {0, 3, 4}, {1, 4, 5}}));
  const auto bytes = make(R"({"type": "BPE", "vocab": {"a": 0, "?": 1, "<0xC3>": 2, "<0xA9>": 3}, "merges": [],
                              "unk_token": "?", "byte_fallback": true})");
  EXPECT_EQ(tokens(**bytes, "aéx"), (std::vector<Token>{{0, 0, 1}, {2, 1, 2}, {3, 2, 3}, {1, 3, 4}}));
  std::vector<Token> result;
  const auto missing = make(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "?"})");
  EXPECT_EQ((*missing)->tokenize("x", 0, result).error().where, "model.unk_token");
}

TEST_F(BpeTest, HasAffixesAndMayIgnoreMerges) {
  const auto affixed = make(R"({"type": "BPE", "continuing_subword_prefix": "#", "end_of_word_suffix": "$",
                                "vocab": {"a": 0, "#b": 1, "#b$": 2, "a$": 3, "ab$": 4}, "merges": ["a #b$"]})");
  ASSERT_TRUE(affixed.ok());
  EXPECT_EQ(ids(**affixed, "ab"), Ids{4});
  EXPECT_EQ(ids(**affixed, "a"), Ids{3});
  const auto whole =
      make(R"({"type": "BPE", "ignore_merges": true, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": []})");
  EXPECT_EQ(ids(**whole, "ab"), Ids{2});
  EXPECT_EQ(ids(**whole, "ba"), (Ids{1, 0}));
}

TEST_F(BpeTest, TwoModelsDoNotShareWhatTheyRemember) {
  const auto one = make(R"({"type": "BPE", "vocab": {"a": 0}, "merges": []})");
  const auto other = make(R"({"type": "BPE", "vocab": {"a": 7}, "merges": []})");
  EXPECT_EQ(ids(**one, "a"), Ids{0});
  EXPECT_EQ(ids(**other, "a"), Ids{7});
}

TEST_F(BpeTest, RefusesWhatIsWrong) {
  const auto where = [&](std::string_view json) { return make(json).error().where; };
  EXPECT_EQ(where(R"({"type": "BPE", "merges": []})"), "model.vocab");
  EXPECT_EQ(where(R"({"type": "BPE", "vocab": {}})"), "model.merges");
  EXPECT_EQ(where(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})"), "model.merges[0]");
  EXPECT_EQ(where(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})"), "model.merges[0]");
  EXPECT_EQ(where(R"({"type": "BPE", "vocab": {}, "merges": ["a b c"]})"), "model.merges[0]");
  EXPECT_EQ(where(R"({"type": "BPE", "vocab": {}, "merges": [["a"]]})"), "model.merges[0]");
  EXPECT_EQ(where(R"({"type": "BPE", "vocab": {}, "merges": [1]})"), "model.merges[0]");
  EXPECT_EQ(where(R"({"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1})"), "model.dropout");
  EXPECT_TRUE(make(R"({"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.0})").ok());
}

TEST(PieceCache, RemembersByKeyAndPiece) {
  models::PieceCache& cache = models::PieceCache::of_this_thread();
  const std::uint32_t key = models::PieceCache::new_key();
  std::vector<Token> found;
  EXPECT_FALSE(cache.find(key, "ab", 0, found));
  const std::vector<Token> tokens = {{5, 10, 11}, {6, 11, 12}};
  cache.store(key, "ab", 10, tokens);
  EXPECT_TRUE(cache.find(key, "ab", 20, found));
  EXPECT_EQ(found, (std::vector<Token>{{5, 20, 21}, {6, 21, 22}}));
  EXPECT_FALSE(cache.find(key + 1, "ab", 0, found));
}

TEST(PieceCache, HoldsPieceAndTokensUpToASlotsSize) {
  models::PieceCache& cache = models::PieceCache::of_this_thread();
  const std::uint32_t key = models::PieceCache::new_key();
  const auto of_bytes = [](std::size_t bytes, std::size_t count) {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = static_cast<std::uint32_t>(i);
      const auto end = i + 1 == count ? static_cast<std::uint32_t>(bytes) : begin + 1;
      tokens.push_back({static_cast<std::int32_t>(kLargestId - i), begin, end});
    }
    return tokens;
  };
  struct Case {
    std::size_t bytes, tokens;
    bool kept;
  };
  for (const Case& c : {Case{117, 1, true}, Case{118, 1, false}, Case{22, 20, true}, Case{23, 20, false},
                        Case{200, 1, false}, Case{30, 18, true}}) {
    const std::string piece(c.bytes, static_cast<char>('a' + c.tokens));
    const std::vector<Token> tokens = of_bytes(c.bytes, c.tokens);
    cache.store(key, piece, 0, tokens);
    std::vector<Token> found;
    EXPECT_EQ(cache.find(key, piece, 0, found), c.kept) << c.bytes << " bytes, " << c.tokens << " tokens";
    EXPECT_EQ(found, c.kept ? tokens : std::vector<Token>());
  }
}

}  // namespace
}  // namespace weir::tokenizers
