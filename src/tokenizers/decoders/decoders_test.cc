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

TEST_F(DecodersTest, Bytes) {
  EXPECT_EQ(run(R"({"type": "ByteLevel"})", {"Ġh", "Ã", "©", "<s> "}), " hé<s> ");
  EXPECT_EQ(run(R"({"type": "ByteLevel"})", {"Ã"}), "\uFFFD");
  EXPECT_EQ(run(R"({"type": "ByteFallback"})", {"a", "<0xC3>", "<0xA9>", "b", "<0xC3>", "<0xC3>"}), "aéb\uFFFD\uFFFD");
  EXPECT_EQ(run(R"({"type": "ByteFallback"})", {"<0xZZ>", "<0x1>"}), "<0xZZ><0x1>");
}

TEST_F(DecodersTest, SimpleOnes) {
  EXPECT_EQ(run(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"})", {"▁a▁", "▁b"}), "a b");
  EXPECT_EQ(run(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"})", {"▁a", "▁b"}), " a b");
  EXPECT_EQ(run(R"({"type": "BPEDecoder", "suffix": "</w>"})", {"a</w>", "b</w>"}), "a b");
  EXPECT_EQ(run(R"({"type": "CTC"})", {"<pad>", "h", "h", "<pad>", "h", "|", "a"}), "hh a");
  constexpr std::string_view kLlama = R"({"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})";
  EXPECT_EQ(run(kLlama, {"▁▁a", "<0xC3>", "<0xA9>", "▁b"}), " aé b");
  EXPECT_EQ(run(R"({"type": "Strip", "content": "_", "start": 1, "stop": 5})", {"__a__", "_", ""}), "_a");
  EXPECT_EQ(make(R"({"type": "BPEDecoder", "suffix": ""})").error().where, "decoder.suffix");
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
