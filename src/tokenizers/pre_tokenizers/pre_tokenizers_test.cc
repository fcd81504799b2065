#include <gtest/gtest.h>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace weir::tokenizers {
namespace {

using Strings = std::vector<std::string>;

class PreTokenizersTest : public testing::Test {
 protected:
  Result<std::unique_ptr<PreTokenizer>> make(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "pre_tokenizer");
    return make_pre_tokenizer(*config);
  }
  Strings run(std::string_view json, std::string_view text) {
    const auto pre_tokenizer = make(json);
    EXPECT_TRUE(pre_tokenizer.ok());
    Pieces pieces;
    pieces.text.reset(true);
    pieces.text.append_original(text, 0);
    if (!text.empty()) pieces.list.push_back({0, static_cast<std::uint32_t>(text.size())});
    (*pre_tokenizer)->pre_tokenize(pieces);
    Strings result;
    for (const Piece& piece : pieces.list) result.emplace_back(pieces.text.view(piece.begin, piece.end));
    return result;
  }
  simdjson::dom::parser parser_;
};

TEST_F(PreTokenizersTest, BertCutsAtSpacesAndPunctuation) {
  constexpr std::string_view kBert = R"({"type": "BertPreTokenizer"})";
  EXPECT_EQ(run(kBert, "Hey friend!  How?!"), (Strings{"Hey", "friend", "!", "How", "?", "!"}));
  EXPECT_EQ(run(kBert, "a\u3000b—c"), (Strings{"a", "b", "—", "c"}));
  EXPECT_EQ(run(kBert, "  "), Strings{});
  EXPECT_EQ(run(kBert, ""), Strings{});
  EXPECT_EQ(run(kBert, "$1€"), (Strings{"$", "1€"}));
}

TEST_F(PreTokenizersTest, AreRefusedByName) {
  EXPECT_EQ(make(R"({"type": "BertPretokenizer"})").error().where, "pre_tokenizer.type");
  EXPECT_EQ(make(R"({"type": "BertPretokenizer"})").error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(make(R"({"type": "BertPreTokenizer", "x": 1})").error().where, "pre_tokenizer.x");
}

}  // namespace
}  // namespace weir::tokenizers
