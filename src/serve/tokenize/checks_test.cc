#include "serve/tokenize/checks.h"

#include <gtest/gtest.h>

#include "serve/tokenize/word_tokenizer_for_test.h"

namespace weir::serve::tokenize {
namespace {

const auto kModel = model_of(std::make_shared<WordTokenizer>(), 8);

bool mentions(const Error& error, std::string_view part) { return error.message.find(part) != std::string::npos; }

TEST(Check, AcceptsWhatIsWithinTheLimits) { EXPECT_TRUE(check(*request_of(kModel, {"a", "b"}), 2).ok()); }

TEST(Check, NoInputs) {
  const Status status = check(*request_of(kModel, {}), 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kEmptyInput);
}

TEST(Check, NamesTheEmptyInput) {
  const Status status = check(*request_of(kModel, {"a", ""}), 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kEmptyInput);
  EXPECT_EQ(status.error().where, "input[1]");
  EXPECT_EQ(check(*request_of(kModel, {""}), 2).error().where, "input") << "the only one has no number";
  const auto other_dialect = request_of(kModel, {"a", ""});
  other_dialect->inputs_field = "inputs";
  EXPECT_EQ(check(*other_dialect, 2).error().where, "inputs[1]") << "as the client's dialect names it";
}

TEST(Check, EmptyIdsAreAnEmptyInput) {
  auto request = request_of(kModel, {"a"});
  request->inputs.push_back({"ignored", {}, true});
  EXPECT_EQ(check(*request, 2).error().where, "input[1]");
}

TEST(Check, TooManyInputsGivesBothNumbers) {
  const Status status = check(*request_of(kModel, {"a", "b", "c"}), 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kTooManyInputs);
  EXPECT_TRUE(mentions(status.error(), "3 inputs") && mentions(status.error(), "limit is 2"));
}

TEST(Check, AnUnknownPromptNamesTheKnownOnes) {
  auto request = request_of(kModel, {"a"});
  request->options.prompt_name = "question";
  const Status status = check(*request, 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(status.error().where, "prompt_name");
  EXPECT_TRUE(mentions(status.error(), "'question'") && mentions(status.error(), "'passage', 'query'"))
      << status.error().message;
  request->options.prompt_name = "query";
  EXPECT_TRUE(check(*request, 2).ok());
}

TEST(Check, APromptCannotGoBeforeIds) {
  auto request = request_of(kModel, {});
  request->inputs.push_back({"", {1, 2}, true});
  EXPECT_TRUE(check(*request, 2).ok());
  request->options.prompt_name = "query";
  EXPECT_EQ(check(*request, 2).error().kind, ErrorKind::kInvalidArgument);
  auto view = std::make_shared<ModelView>(*kModel);
  view->manifest.prompts["query"] = "";
  request->view = view;
  EXPECT_TRUE(check(*request, 2).ok()) << "of a prompt without text only the name counts";
}

TEST(InputName, TheQueryIsNoText) {
  auto request = request_of(kModel, {"a", "b"});
  request->inputs_field = "texts";
  request->inputs[1].is_query = true;
  EXPECT_EQ(input_name(*request, 0), "texts[0]");
  EXPECT_EQ(input_name(*request, 1), "query");
}

TEST(PromptOf, TheRequestsOverTheModelsDefault) {
  auto view = std::make_shared<ModelView>(*kModel);
  auto request = request_of(view, {"a"});
  EXPECT_EQ(prompt_of(*request, request->inputs.front()), "");
  view->manifest.default_prompt = "passage";
  EXPECT_EQ(prompt_of(*request, request->inputs.front()), "told: ");
  request->options.prompt_name = "query";
  EXPECT_EQ(prompt_of(*request, request->inputs.front()), "ask: ");
}

}  // namespace
}  // namespace weir::serve::tokenize
