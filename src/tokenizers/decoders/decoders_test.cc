#include <gtest/gtest.h>

#include "tokenizers/decoders/makers.h"

namespace weir::tokenizers {
namespace {

using Strings = std::vector<std::string>;

class DecodersTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Decoder>> make(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "decoder");
    return make_decoder(*config);
  }
  std::string run(std::string_view json, Strings tokens) {
    const auto decoder = make(json);
    EXPECT_TRUE(decoder.ok());
    (*decoder)->decode(tokens);
    std::string text;
    for (const std::string& token : tokens) text += token;
    return text;
  }
  simdjson::dom::parser parser_;
};

TEST_F(DecodersTest, WordPieceJoinsWords) {
  constexpr std::string_view kRaw = R"({"type": "WordPiece", "prefix": "##", "cleanup": false})";
  EXPECT_EQ(run(kRaw, {"##uelo", "Ara", "##új", "##o", "No", "."}), "##uelo Araújo No .");
  EXPECT_EQ(run(kRaw, {}), "");
  EXPECT_EQ(run(R"({"type": "WordPiece"})", {"do", "n't", ",", "i", "'m", "ok", "?"}), "don't, i'm ok?");
}

TEST_F(DecodersTest, ReplaceAllGoesFromTheLeft) {
  std::string text = "aaaa b aa";
  decoders::replace_all(text, "aa", "x");
  EXPECT_EQ(text, "xx b x");
  decoders::replace_all(text, "q", "x");
  EXPECT_EQ(text, "xx b x");
}

TEST_F(DecodersTest, AreRefusedByName) {
  EXPECT_EQ(make(R"({"type": "Wordpiece"})").error().where, "decoder.type");
  EXPECT_EQ(make(R"({"type": "WordPiece", "prefix": 1})").error().where, "decoder.prefix");
}

}  // namespace
}  // namespace weir::tokenizers
