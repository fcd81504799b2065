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

TEST_F(PreTokenizersTest, SimpleOnes) {
  EXPECT_EQ(run(R"({"type": "WhitespaceSplit"})", " a, b\u3000"), (Strings{"a,", "b"}));
  EXPECT_EQ(run(R"({"type": "Whitespace"})", "a_1, (b).é"), (Strings{"a_1", ",", "(", "b", ").", "é"}));
  EXPECT_EQ(run(R"({"type": "Punctuation"})", "a,b!"), (Strings{"a", ",", "b", "!"}));
  EXPECT_EQ(run(R"({"type": "Punctuation", "behavior": "Removed"})", "a,b!"), (Strings{"a", "b"}));
  EXPECT_EQ(run(R"({"type": "Digits", "individual_digits": true})", "a12"), (Strings{"a", "1", "2"}));
  EXPECT_EQ(run(R"({"type": "Digits", "individual_digits": false})", "a12b"), (Strings{"a", "12", "b"}));
  EXPECT_EQ(run(R"({"type": "CharDelimiterSplit", "delimiter": "_"})", "a_b"), (Strings{"a", "b"}));
}

TEST_F(PreTokenizersTest, ByteLevelCutsAsGpt2Did) {
  constexpr std::string_view kPlain = R"({"type": "ByteLevel", "add_prefix_space": false})";
  EXPECT_EQ(run(kPlain, "Hello my  friend's 12!"), (Strings{"Hello", "Ġmy", "Ġ", "Ġfriend", "'s", "Ġ12", "!"}));
  EXPECT_EQ(run(kPlain, "a \n b  "), (Strings{"a", "ĠĊ", "Ġb", "ĠĠ"}));
  EXPECT_EQ(run(kPlain, "a\nb"), (Strings{"a", "Ċ", "b"}));
  EXPECT_EQ(run(kPlain, "'x 'll"), (Strings{"'", "x", "Ġ'", "ll"}));
  EXPECT_EQ(run(R"({"type": "ByteLevel"})", "é"), (Strings{"ĠÃ©"}));
  EXPECT_EQ(run(R"({"type": "ByteLevel", "use_regex": false, "add_prefix_space": true})", " a b"), (Strings{"ĠaĠb"}));
}

TEST_F(PreTokenizersTest, MetaspaceInOldAndNewForm) {
  constexpr std::string_view kOld =
      R"({"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": true})";
  EXPECT_EQ(run(kOld, "a  b"), (Strings{"▁a", "▁", "▁b"}));
  EXPECT_EQ(run(kOld, " a"), (Strings{"▁a"}));
  EXPECT_EQ(run(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"})", "a b"),
            (Strings{"a", "▁b"}));
  EXPECT_EQ(run(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false})", "a b"),
            (Strings{"▁a▁b"}));
  constexpr std::string_view kFirst = R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}]})";
  EXPECT_EQ(run(kFirst, "a b"), (Strings{"▁a", "b"}));
  EXPECT_TRUE((*make(kFirst))->needs_alignment());
  EXPECT_EQ(make(R"({"type": "Metaspace", "replacement": "ab"})").error().where, "pre_tokenizer.replacement");
  EXPECT_EQ(make(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "last"})").error().where,
            "pre_tokenizer.prepend_scheme");
  EXPECT_EQ(make(R"({"type": "Metaspace", "replacement": "▁", "add_prefix_space": false, "prepend_scheme": "always"})")
                .error()
                .kind,
            ErrorKind::kCorrupt);
}

TEST_F(PreTokenizersTest, SplitAtPatterns) {
  EXPECT_EQ(run(R"({"type": "Split", "pattern": {"String": "--"}, "behavior": "Isolated", "invert": false})", "a--b"),
            (Strings{"a", "--", "b"}));
  EXPECT_EQ(run(R"({"type": "Split", "pattern": {"Regex": "\\d+"}, "behavior": "Removed", "invert": true})", "a1b22"),
            (Strings{"1", "22"}));
  EXPECT_EQ(
      make(R"({"type": "Split", "pattern": {"String": "-"}, "behavior": "Glued", "invert": false})").error().where,
      "pre_tokenizer.behavior");
}

TEST_F(PreTokenizersTest, AreRefusedByName) {
  EXPECT_EQ(make(R"({"type": "BertPretokenizer"})").error().where, "pre_tokenizer.type");
  EXPECT_EQ(make(R"({"type": "BertPretokenizer"})").error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(make(R"({"type": "BertPreTokenizer", "x": 1})").error().where, "pre_tokenizer.x");
}

}  // namespace
}  // namespace weir::tokenizers
