#include "tokenizers/tokenizer.h"

#include <thread>

#include <gtest/gtest.h>

namespace weir::tokenizers {
namespace {

using Ids = std::vector<std::int32_t>;
using Offsets = std::vector<Offset>;

// Enough to show every rule: words, pieces, characters of several scripts, and added tokens of every kind.
constexpr std::string_view kFile = R"({
  "version": "1.0", "truncation": {"max_length": 3}, "padding": {"strategy": {"Fixed": 8}},
  "added_tokens": [
    {"id": 0, "content": "[PAD]", "special": true, "normalized": false},
    {"id": 1, "content": "[UNK]", "special": true, "normalized": false},
    {"id": 2, "content": "[CLS]", "special": true, "normalized": false},
    {"id": 3, "content": "[SEP]", "special": true, "normalized": false},
    {"id": 20, "content": "<word>", "single_word": true, "normalized": false},
    {"id": 21, "content": "<left>", "lstrip": true, "normalized": false},
    {"id": 22, "content": "<right>", "rstrip": true, "normalized": false},
    {"id": 23, "content": "Big Cat", "normalized": true},
    {"id": 24, "content": "<le", "normalized": false}],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                 "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "cat": 4, "##s": 5, "sit": 6, "##ting": 7, ".": 8,
                      "a": 9, "##a": 10, "cafe": 11, "漢": 12, "字": 13, ",": 14, "<": 15, ">": 16, "word": 17, "the": 18,
                      "left": 19}}})";

std::string with(std::string from, std::string_view old_part, std::string_view new_part) {
  const std::size_t at = from.find(old_part);
  EXPECT_NE(at, std::string::npos) << old_part;
  return from.replace(at, old_part.size(), new_part);
}

class TokenizerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto tokenizer = Tokenizer::from_json(kFile, "test.json");
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    tokenizer_ = std::move(*tokenizer);
  }
  Encoding encode(std::string_view text, EncodeOptions options = {}) {
    options.with_offsets = true;
    auto encoding = tokenizer_->encode(text, options);
    EXPECT_TRUE(encoding.ok());
    return *encoding;
  }
  /// The ids of the text alone.
  Ids ids(std::string_view text) { return encode(text, {.add_special_tokens = false}).ids; }

  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(TokenizerTest, EncodesWords) {
  const Encoding encoding = encode("Cats sitting. Café");
  EXPECT_EQ(encoding.ids, (Ids{2, 4, 5, 6, 7, 8, 11, 3}));
  EXPECT_EQ(encoding.offsets, (Offsets{{0, 0}, {0, 3}, {3, 4}, {5, 8}, {8, 12}, {12, 13}, {14, 18}, {0, 0}}));
  EXPECT_EQ(encoding.special, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(encoding.type_ids, (Ids(8, 0)));
  EXPECT_EQ(encoding.untruncated_tokens, 8u);
}

TEST_F(TokenizerTest, LeavesOffsetsOutUnlessAsked) {
  const auto encoding = tokenizer_->encode("cats", {});
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encoding->ids, (Ids{2, 4, 5, 3}));
  EXPECT_TRUE(encoding->offsets.empty());
  EXPECT_TRUE(encoding->special.empty());
}

TEST_F(TokenizerTest, EncodesTextsOfNothing) {
  for (const std::string_view text : {std::string_view(), std::string_view(" \t\u3000"),
                                      std::string_view("\0\x01\u200B", 5), std::string_view("\u0301\u0300")}) {
    EXPECT_EQ(encode(text).ids, (Ids{2, 3}));
    EXPECT_EQ(encode(text, {.add_special_tokens = false}).ids, Ids{});
  }
}

TEST_F(TokenizerTest, CountsOffsetsInCodePointsOfTheOriginal) {
  EXPECT_EQ(encode("漢字 cat").offsets, (Offsets{{0, 0}, {0, 1}, {1, 2}, {3, 6}, {0, 0}}));
  EXPECT_EQ(encode("😀 cat").offsets, (Offsets{{0, 0}, {0, 1}, {2, 5}, {0, 0}}));
  EXPECT_EQ(encode("cafe\u0301 cat").offsets, (Offsets{{0, 0}, {0, 4}, {6, 9}, {0, 0}}));
  EXPECT_EQ(encode("c\u200Bat").offsets, (Offsets{{0, 0}, {0, 4}, {0, 0}}));
}

TEST_F(TokenizerTest, UnknownAndEndlessWordsAreOneToken) {
  EXPECT_EQ(ids("xyz 👨‍👩‍👧"), (Ids{1, 1}));
  EXPECT_EQ(ids(std::string(100, 'a')).size(), 100u);
  const Encoding encoding = encode(std::string(100'000, 'a'));
  EXPECT_EQ(encoding.ids, (Ids{2, 1, 3}));
  EXPECT_EQ(encoding.offsets[1], (Offset{0, 100'000}));
}

TEST_F(TokenizerTest, ReplacesInvalidBytesFirst) {
  const Encoding encoding = encode("cat\xFF\xFE sit\xE2\x82");
  EXPECT_EQ(encoding.ids, (Ids{2, 4, 6, 3}));
  EXPECT_EQ(encoding.offsets, (Offsets{{0, 0}, {0, 3}, {6, 9}, {0, 0}}));
}

TEST_F(TokenizerTest, FindsAddedTokens) {
  EXPECT_EQ(ids("cat[SEP]cat"), (Ids{4, 3, 4}));
  EXPECT_EQ(ids("[sep]"), (Ids{1, 1, 1}));
  EXPECT_EQ(encode("[SEP]").special, (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(ids("the bIg càt sit"), (Ids{18, 23, 6}));
  EXPECT_EQ(ids("<left>"), (Ids{21}));  // Not "<le": of those that begin together the longest.
  EXPECT_EQ(ids("<le<left>"), (Ids{24, 21}));
}

TEST_F(TokenizerTest, SingleWordsStandAlone) {
  EXPECT_EQ(ids("a <word> a"), (Ids{9, 20, 9}));
  EXPECT_EQ(ids("(<word>)"), (Ids{1, 20, 1}));
  EXPECT_EQ(ids("a<word>"), (Ids{9, 15, 17, 16}));
  EXPECT_EQ(ids("<word>é"), (Ids{15, 17, 16, 1}));
}

TEST_F(TokenizerTest, AddedTokensTakeSpacesAlong) {
  const Encoding left = encode("a \u3000<left> a", {.add_special_tokens = false});
  EXPECT_EQ(left.offsets, (Offsets{{0, 1}, {1, 9}, {10, 11}}));
  const Encoding right = encode("a <right> \n <left>", {.add_special_tokens = false});
  EXPECT_EQ(right.ids, (Ids{9, 22, 21}));
  EXPECT_EQ(right.offsets, (Offsets{{0, 1}, {2, 12}, {12, 18}}));
}

TEST_F(TokenizerTest, Truncates) {
  EXPECT_EQ(encode("a a a cat", {.max_tokens = 4}).ids, (Ids{2, 9, 9, 3}));
  const Encoding left = encode("a a a cat", {.max_tokens = 4, .truncation_side = Side::kLeft});
  EXPECT_EQ(left.ids, (Ids{2, 9, 4, 3}));
  EXPECT_EQ(left.offsets, (Offsets{{0, 0}, {4, 5}, {6, 9}, {0, 0}}));
  EXPECT_EQ(left.untruncated_tokens, 6u);
  EXPECT_EQ(encode("a a", {.max_tokens = 2}).ids, (Ids{2, 3}));
  EXPECT_EQ(encode("a a", {.add_special_tokens = false, .max_tokens = 0}).ids, Ids{});
  EXPECT_EQ(encode("a a", {.max_tokens = 4}).ids, (Ids{2, 9, 9, 3}));
}

TEST_F(TokenizerTest, RefusesALimitBelowTheSpecialTokens) {
  const auto encoding = tokenizer_->encode("a", {.max_tokens = 1});
  ASSERT_FALSE(encoding.ok());
  EXPECT_EQ(encoding.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(encoding.error().where, "max_tokens");
  EXPECT_FALSE(tokenizer_->encode_pair("a", "a", {.max_tokens = 2}).ok());
}

TEST_F(TokenizerTest, EncodesPairs) {
  const auto pair = tokenizer_->encode_pair("a cat", "sit", {.with_offsets = true});
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(pair->ids, (Ids{2, 9, 4, 3, 6, 3}));
  EXPECT_EQ(pair->type_ids, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(pair->offsets, (Offsets{{0, 0}, {0, 1}, {2, 5}, {0, 0}, {0, 3}, {0, 0}}));
  EXPECT_EQ(tokenizer_->encode_pair("a a a a", "sit", {.max_tokens = 6})->ids, (Ids{2, 9, 9, 3, 6, 3}));
  EXPECT_EQ(tokenizer_->encode_pair("a", "", {})->ids, (Ids{2, 9, 3, 3}));
}

TEST_F(TokenizerTest, WrapsIds) {
  const auto encoding = tokenizer_->encode_ids(Ids{4, 23, 9}, {.with_offsets = true, .max_tokens = 4});
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encoding->ids, (Ids{2, 4, 23, 3}));
  EXPECT_EQ(encoding->special, (std::vector<std::uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(encoding->offsets, Offsets(4));
  EXPECT_EQ(encoding->untruncated_tokens, 5u);
  for (const std::int32_t bad : {-1, 25, 1 << 30}) {
    const auto refused = tokenizer_->encode_ids(Ids{4, bad}, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
  }
}

TEST_F(TokenizerTest, Decodes) {
  EXPECT_EQ(*tokenizer_->decode(Ids{2, 4, 5, 8, 3}, true), "cats.");
  EXPECT_EQ(*tokenizer_->decode(Ids{2, 4, 5, 8, 3}, false), "[CLS] cats. [SEP]");
  EXPECT_EQ(*tokenizer_->decode(Ids{}, true), "");
  EXPECT_FALSE(tokenizer_->decode(Ids{4, 99}, true).ok());
}

TEST_F(TokenizerTest, KnowsItsVocabulary) {
  EXPECT_EQ(tokenizer_->token_to_id("cat"), 4);
  EXPECT_EQ(tokenizer_->token_to_id("<word>"), 20);
  EXPECT_EQ(tokenizer_->token_to_id("dog"), std::nullopt);
  EXPECT_EQ(tokenizer_->id_to_token(4), "cat");
  EXPECT_EQ(tokenizer_->id_to_token(20), "<word>");
  EXPECT_EQ(tokenizer_->id_to_token(25), "");
  EXPECT_EQ(tokenizer_->vocabulary_size(), 25u);
  EXPECT_EQ(tokenizer_->special_tokens_added(), 2u);
}

TEST_F(TokenizerTest, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (int k = 0; k < 200; ++k) {
        const std::string text = "Cats sitting " + std::string(static_cast<std::size_t>(i), 'a') + " Café 漢 <word>";
        const auto encoding = tokenizer_->encode(text, {.with_offsets = true});
        ASSERT_TRUE(encoding.ok());
        ASSERT_EQ(encoding->ids.size(), 9u + static_cast<std::size_t>(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TokenizerTest, ForgetsLongTexts) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += "a é ";
  EXPECT_EQ(encode(text).ids.size(), 800'002u);
  EXPECT_EQ(encode("a").ids, (Ids{2, 9, 3}));
}

struct BadFile {
  std::string json;
  ErrorKind kind;
  std::string where;
};

TEST(TokenizerFile, IsRefusedWithTheNameOfTheField) {
  const std::string file(kFile);
  const BadFile cases[] = {
      {"", ErrorKind::kCorrupt, "test.json"},
      {file.substr(0, file.size() / 2), ErrorKind::kCorrupt, "test.json"},
      {"[1]", ErrorKind::kCorrupt, "test.json"},
      {"{}", ErrorKind::kCorrupt, "model"},
      {R"({"model": 5})", ErrorKind::kCorrupt, "model"},
      {R"({"model": {"type": "WordPiece"}})", ErrorKind::kCorrupt, "model.vocab"},
      {R"({"version": "2.0", "model": {}})", ErrorKind::kUnsupported, "version"},
      {with(file, "\"WordPiece\", \"unk", "\"Morfessor\", \"unk"), ErrorKind::kUnsupported, "model.type"},
      {with(file, "BertNormalizer", "Soundex"), ErrorKind::kUnsupported, "normalizer.type"},
      {with(file, "BertPreTokenizer", "Jieba"), ErrorKind::kUnsupported, "pre_tokenizer.type"},
      {with(file, "BertProcessing", "GptProcessing"), ErrorKind::kUnsupported, "post_processor.type"},
      {with(file, "\"prefix\"", "\"prefixes\""), ErrorKind::kUnsupported, "decoder.prefixes"},
      {with(file, "\"version\"", "\"revision\""), ErrorKind::kUnsupported, "revision"},
      {with(file, "\"lowercase\": true", "\"lowercase\": \"yes\""), ErrorKind::kCorrupt, "normalizer.lowercase"},
      {with(file, "{\"id\": 0, \"content\": \"[PAD]\"", "{\"id\": 0, \"content\": 0"), ErrorKind::kCorrupt,
       "added_tokens[0].content"},
      {with(file, "\"id\": 24", "\"id\": -24"), ErrorKind::kCorrupt, "added_tokens[8].id"},
      {with(file, "\"single_word\": true", "\"whole_word\": true"), ErrorKind::kUnsupported,
       "added_tokens[4].whole_word"},
      {with(file, "\"Big Cat\"", "\"\\u0301\""), ErrorKind::kUnsupported, "added_tokens"},
      {with(file, "\"cat\": 4", "\"cat\": 400000000"), ErrorKind::kCorrupt, "model.vocab"},
      {with(file, "\"[CLS]\", 2", "\"[CLS]\""), ErrorKind::kCorrupt, "post_processor.cls"},
      {std::string(5000, '['), ErrorKind::kCorrupt, "test.json"},
  };
  for (const BadFile& bad : cases) {
    const auto tokenizer = Tokenizer::from_json(bad.json, "test.json");
    ASSERT_FALSE(tokenizer.ok()) << bad.where;
    EXPECT_EQ(tokenizer.error().kind, bad.kind) << tokenizer.error().message;
    EXPECT_EQ(tokenizer.error().where, bad.where) << tokenizer.error().message;
    EXPECT_TRUE(tokenizer.error().message.starts_with("test.json: ")) << tokenizer.error().message;
  }
}

TEST(TokenizerFile, MayLeaveEverythingOutButTheModel) {
  const auto tokenizer =
      Tokenizer::from_json(R"({"model": {"type": "WordPiece", "vocab": {"a": 0, "##b": 1}}})", "test.json");
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->encode("ab", {})->ids, (Ids{0, 1}));
  EXPECT_EQ((*tokenizer)->encode_pair("ab", "a", {})->type_ids, (Ids{0, 0, 1}));
  EXPECT_EQ(*(*tokenizer)->decode(Ids{0, 1}, true), "a ##b");
  EXPECT_EQ((*tokenizer)->encode("c", {}).error().kind, ErrorKind::kTokenizer);
  EXPECT_EQ((*tokenizer)->special_tokens_added(), 0u);
}

TEST(TokenizerFile, CannotMakeATextGrowWithoutLimit) {
  constexpr std::string_view kModel = R"("model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}})";
  const std::string replace =
      R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" + std::string(100, 'a') + "\"}";
  std::string steps = replace;
  for (int i = 1; i < 12; ++i) steps += "," + replace;
  const auto normalizers = Tokenizer::from_json(
      R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps + "]}," + std::string(kModel), "test.json");
  ASSERT_TRUE(normalizers.ok());
  EXPECT_EQ((*normalizers)->encode("b", {})->ids, Ids{0});
  EXPECT_EQ((*normalizers)->encode("a", {}).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ((*normalizers)->encode("b", {})->ids, Ids{0});  // The trouble is that of one text.

  constexpr std::string_view kBytes = R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})";
  steps = kBytes;
  for (int i = 1; i < 64; ++i) steps.append(",").append(kBytes);
  const auto pre_tokenizers = Tokenizer::from_json(
      R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [)" + steps + "]}," + std::string(kModel),
      "test.json");
  ASSERT_TRUE(pre_tokenizers.ok());
  EXPECT_EQ((*pre_tokenizers)->encode("a", {})->ids, Ids{0});
  EXPECT_EQ((*pre_tokenizers)->encode("é", {}).error().kind, ErrorKind::kInvalidArgument);
}

TEST(TokenizerFile, MayNotHoldUpATextWithItsExpressions) {
  constexpr std::string_view kModel = R"("model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}})";
  const std::string slow = std::string(40, 'a') + "b";
  for (const std::string_view part :
       {R"("normalizer": {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""},)",
        R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"},)"}) {
    const auto tokenizer = Tokenizer::from_json("{" + std::string(part).append(kModel), "test.json");
    ASSERT_TRUE(tokenizer.ok());
    EXPECT_EQ((*tokenizer)->encode(slow, {}).error().kind, ErrorKind::kTokenizer);
    EXPECT_EQ((*tokenizer)->encode("b", {})->ids, Ids{0});
  }
}

TEST(TokenizerFile, IsNotFound) {
  EXPECT_EQ(Tokenizer::from_file("/no/such/tokenizer.json").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace weir::tokenizers
