#include "serve/tokenize/encode.h"

#include <gtest/gtest.h>

#include "serve/tokenize/word_tokenizer_for_test.h"

namespace weir::serve::tokenize {
namespace {

using Ids = std::vector<std::int32_t>;

const auto kModel = model_of(std::make_shared<WordTokenizer>(), 4);

RequestPtr ready(std::vector<std::string> texts) {
  auto request = request_of(kModel, std::move(texts));
  request->encodings.resize(request->inputs.size());
  return request;
}

TEST(EncodeInput, PutsThePromptBeforeTheText) {
  auto request = ready({"one"});
  request->options.prompt_name = "query";
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kTruncate}).ok());
  EXPECT_EQ(request->encodings[0].ids, (Ids{0, 4, 3}));
}

TEST(EncodeInput, TruncatesAtTheEndThatTheRequestNames) {
  auto request = ready({"a bb ccc dddd eeeee"});
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kTruncate}).ok());
  EXPECT_EQ(request->encodings[0].ids, (Ids{0, 1, 2, 3}));
  request->options.truncation_side = tokenizers::Side::kLeft;
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kTruncate}).ok());
  EXPECT_EQ(request->encodings[0].ids, (Ids{0, 3, 4, 5}));
}

TEST(EncodeInput, RefusesALongTextWithBothNumbers) {
  auto request = ready({"a", "a b c d e"});
  const Status status = encode_input(*request, 1, {LongText::kReject});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kTextTooLong);
  EXPECT_EQ(status.error().where, "input[1]");
  EXPECT_NE(status.error().message.find("6 tokens"), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("takes 4"), std::string::npos) << status.error().message;
}

TEST(EncodeInput, TheRequestDecidesOverTheServer) {
  auto request = ready({"a b c d e"});
  request->options.truncate = true;
  EXPECT_TRUE(encode_input(*request, 0, {LongText::kReject}).ok());
  request->options.truncate = false;
  EXPECT_FALSE(encode_input(*request, 0, {LongText::kTruncate}).ok());
}

/// A window holds four tokens, one of them special.
TEST(EncodeInput, CutsALongTextIntoWindowsThatOverlap) {
  auto request = ready({"a bb ccc dddd eeeee"});
  request->windows.resize(1);
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kChunk, 1}).ok());
  EXPECT_EQ(request->encodings[0].ids, (Ids{0, 1, 2, 3}));
  ASSERT_EQ(request->windows[0].size(), 1u);
  EXPECT_EQ(request->windows[0][0].ids, (Ids{0, 3, 4, 5}));

  request = ready({"a bb ccc dddd"});
  request->windows.resize(1);
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kChunk, 0}).ok());
  ASSERT_EQ(request->windows[0].size(), 1u);
  EXPECT_EQ(request->windows[0][0].ids, (Ids{0, 4}));
}

TEST(EncodeInput, AnOverlapIsAtMostHalfAWindow) {
  auto request = ready({"a bb ccc dddd eeeee"});
  request->windows.resize(1);
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kChunk, 1000}).ok());
  EXPECT_EQ(request->windows[0].size(), 1u);
}

TEST(EncodeInput, EachWindowHasThePrompt) {
  auto request = ready({"a bb ccc"});
  request->options.prompt_name = "query";
  request->windows.resize(1);
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kChunk, 0}).ok());
  EXPECT_EQ(request->encodings[0].ids, (Ids{0, 4, 1, 2}));
  ASSERT_EQ(request->windows[0].size(), 1u);
  EXPECT_EQ(request->windows[0][0].ids, (Ids{0, 4, 3}));
}

TEST(EncodeInput, OnlyEmbeddingsAreComputedInWindows) {
  auto request = ready({"a bb ccc dddd eeeee"});
  request->task = Task::kClassify;
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kChunk, 0}).ok());
  EXPECT_EQ(request->encodings[0].ids, (Ids{0, 1, 2, 3}));
  request->task = Task::kEmbed;
  request->options.truncate = false;
  EXPECT_EQ(encode_input(*request, 0, {LongText::kChunk, 0}).error().kind, ErrorKind::kTextTooLong);
}

TEST(EncodeInput, ATextOfExactlyTheLimitIsNotTooLong) {
  auto request = ready({"a b c"});
  EXPECT_TRUE(encode_input(*request, 0, {LongText::kReject}).ok());
}

TEST(EncodeInput, IdsGetTheirSpecialTokensAndNoPrompt) {
  auto view = std::make_shared<ModelView>(*kModel);
  view->manifest.default_prompt = "query";
  auto request = ready({""});
  request->view = view;
  request->inputs[0] = {"", {7, 8}, true};
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kTruncate}).ok());
  EXPECT_EQ(request->encodings[0].ids, (Ids{0, 7, 8}));
}

TEST(EncodeInput, TokenizeTaskNeverTruncatesAndHasOffsets) {
  auto request = ready({"a b c d e f"});
  request->task = Task::kTokenize;
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kReject}).ok());
  EXPECT_EQ(request->encodings[0].ids.size(), 7u);
  EXPECT_EQ(request->encodings[0].offsets.size(), 7u);
  request->options.add_special_tokens = false;
  ASSERT_TRUE(encode_input(*request, 0, {LongText::kReject}).ok());
  EXPECT_EQ(request->encodings[0].ids.size(), 6u);
}

TEST(EncodeInput, TheTokenizersErrorNamesTheInput) {
  auto request = ready({"a", "bad"});
  const Status status = encode_input(*request, 1, {LongText::kTruncate});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kTokenizer);
  EXPECT_EQ(status.error().where, "input[1]");
}

}  // namespace
}  // namespace weir::serve::tokenize
