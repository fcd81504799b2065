#include "serve/tokenize/tokenize.h"

#include <future>
#include <string>

#include <gtest/gtest.h>

#include "serve/tokenize/word_tokenizer_for_test.h"

namespace weir::serve::tokenize {
namespace {

/// A stage whose requests can be waited for, in whatever way they end.
struct Harness {
  explicit Harness(Options options = {}) : stage(options, [](const RequestPtr& request) { finish(request); }) {}

  std::shared_ptr<const WordTokenizer> tokenizer = std::make_shared<WordTokenizer>();
  ModelViewPtr model = model_of(tokenizer, 64);
  TokenizeStage stage;

  struct Sent {
    RequestPtr request;
    std::future<void> finished;
    RequestPtr wait() {
      finished.wait();
      return request;
    }
  };
  Sent send(std::vector<std::string> texts, Task task = Task::kEmbed) {
    const auto request = request_of(model, std::move(texts));
    request->task = task;
    const auto promise = std::make_shared<std::promise<void>>();
    request->done = [promise](const RequestPtr&) { promise->set_value(); };
    stage.submit(request);
    return {request, promise->get_future()};
  }
};

std::string long_text(std::string start) { return start + std::string(100'000, 'x'); }

TEST(TokenizeStage, EncodesEveryInputInItsPlace) {
  Harness harness;
  const RequestPtr request = harness.send({"a", "bb bb", long_text("lo "), "ccc"}).wait();
  ASSERT_FALSE(request->error.has_value());
  ASSERT_EQ(request->encodings.size(), 4u);
  EXPECT_EQ(request->encodings[1].ids, (std::vector<std::int32_t>{0, 2, 2}));
  EXPECT_EQ(request->encodings[2].ids.back(), 100'000);
  EXPECT_EQ(request->encodings[3].ids.back(), 3);
  EXPECT_EQ(request->tokens, 2u + 3u + 3u + 2u);
}

TEST(TokenizeStage, ManyInputsTakeManySlices) {
  Options options;
  options.slice_bytes = 10;
  options.threads = 3;
  Harness harness(options);
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) texts.push_back(std::string(static_cast<std::size_t>(1 + i % 9), 'x'));
  const RequestPtr request = harness.send(texts).wait();
  ASSERT_FALSE(request->error.has_value());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(request->encodings[i].ids.back(), static_cast<std::int32_t>(texts[i].size()));
  }
}

TEST(TokenizeStage, ALongTextHoldsUpNoShortOne) {
  Harness harness;
  auto held = harness.send({long_text("hold ")});
  harness.tokenizer->wait_held(1);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(harness.send({"short"}).wait()->error.has_value());
  EXPECT_FALSE(held.request->is_finished());
  harness.tokenizer->release();
  EXPECT_FALSE(held.wait()->error.has_value());
}

TEST(TokenizeStage, ARequestOfManyTextsTakesTurns) {
  Options options;
  options.slice_bytes = 8;  // a slice is two texts of four bytes
  Harness harness(options);
  auto first = harness.send({"hold"});
  harness.tokenizer->wait_held(1);  // the only thread for short texts is busy while the others queue up
  auto many = harness.send(std::vector<std::string>(1000, "four"));
  std::atomic<bool> many_finished_first{true};
  const auto small = request_of(harness.model, {"four"});
  std::promise<void> small_done;
  small->done = [&](const RequestPtr&) {
    many_finished_first = many.request->is_finished();
    small_done.set_value();
  };
  harness.stage.submit(small);
  harness.tokenizer->release();
  small_done.get_future().wait();
  EXPECT_FALSE(many_finished_first);
  EXPECT_FALSE(many.wait()->error.has_value());
}

TEST(TokenizeStage, AFailedCheckEndsTheRequestHere) {
  Options options;
  options.max_inputs = 2;
  Harness harness(options);
  EXPECT_EQ(harness.send({}).wait()->error->kind, ErrorKind::kEmptyInput);
  EXPECT_EQ(harness.send({"a", ""}).wait()->error->where, "input[1]");
  EXPECT_EQ(harness.send({"a", "b", "c"}).wait()->error->kind, ErrorKind::kTooManyInputs);
  EXPECT_EQ(harness.send({"a", "bad"}).wait()->error->kind, ErrorKind::kTokenizer);
  EXPECT_FALSE(harness.send({"a"}).wait()->error.has_value()) << "the next one is served";
}

TEST(TokenizeStage, ListsNoMoreTokensThanAnAnswerMayHave) {
  Options options;
  options.max_listed_tokens = 6;  // a text here has a special token and one for each word
  Harness harness(options);
  const auto tokens_of = [&](std::vector<std::string> texts) {
    return harness.send(std::move(texts), Task::kTokenize).wait();
  };
  EXPECT_FALSE(tokens_of({"a b c d e"})->error.has_value());
  EXPECT_FALSE(tokens_of({"a b", "c d"})->error.has_value());
  for (const auto& texts : {std::vector<std::string>{"a b c d e f"}, {"a b", "c d e"}, {"a", "b", "c", "d"}}) {
    const RequestPtr request = tokens_of(texts);
    ASSERT_TRUE(request->error.has_value());
    EXPECT_EQ(request->error->kind, ErrorKind::kBodyTooLarge);
    EXPECT_EQ(request->error->where, request->inputs_field);
    EXPECT_NE(request->error->message.find("--max-answer-tokens"), std::string::npos) << request->error->message;
  }
  EXPECT_FALSE(harness.send({"a b c d e f g h"}).wait()->error.has_value()) << "an embedding lists no tokens";
}

TEST(TokenizeStage, WhatIsFinishedIsDroppedUnseen) {
  Harness harness;
  auto held = harness.send({"hold"});
  harness.tokenizer->wait_held(1);
  auto gone = harness.send({"hold too"});
  finish(gone.request, Error(ErrorKind::kCancelled, "gone"));
  harness.tokenizer->release();
  held.wait();
  harness.send({"after"}).wait();
  EXPECT_TRUE(gone.request->encodings.empty());
  harness.tokenizer->wait_held(1);
  harness.stage.stop();
  EXPECT_EQ(harness.stage.depth(), 0u);
}

TEST(TokenizeStage, StopLetsGoOfWhatIsQueued) {
  Harness harness;
  auto held = harness.send({"hold"});
  harness.tokenizer->wait_held(1);
  const auto queued = harness.send({"queued"}).request;
  harness.tokenizer->release();
  harness.stage.stop();
  harness.stage.submit(queued);
  EXPECT_EQ(harness.stage.depth(), 0u);
  EXPECT_FALSE(queued->error.has_value());
}

}  // namespace
}  // namespace weir::serve::tokenize
