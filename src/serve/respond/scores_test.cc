#include "serve/respond/scores.h"

#include <cmath>

#include <gtest/gtest.h>

namespace weir::serve::respond {
namespace {

TEST(LateInteraction, IsTheMeanOrSumOfTheLargestProducts) {
  using enum LateInteraction;
  const std::vector<float> query = {1, 0, 0, 1};
  const std::vector<float> text = {0.5F, 0.25F, -1, 0.75F, 0.6F, 0};
  EXPECT_FLOAT_EQ(late_interaction(query, text, 2, kMean), (0.6F + 0.75F) / 2);
  EXPECT_FLOAT_EQ(late_interaction(query, text, 2, kSum), 0.6F + 0.75F);
  EXPECT_FLOAT_EQ(late_interaction(query, std::span(text).subspan(2, 2), 2, kMean), (-1 + 0.75F) / 2);
  EXPECT_EQ(late_interaction(query, {}, 2, kSum), 0);
  EXPECT_EQ(late_interaction({}, text, 2, kMean), 0);
}

TEST(Scores, Functions) {
  std::vector<float> numbers = {0.0f, 2.0f, -2.0f};
  apply_score_function(bundle::ScoreFunction::kNone, numbers);
  EXPECT_EQ(numbers, (std::vector<float>{0.0f, 2.0f, -2.0f}));
  apply_score_function(bundle::ScoreFunction::kSigmoid, numbers);
  EXPECT_FLOAT_EQ(numbers[0], 0.5f);
  EXPECT_FLOAT_EQ(numbers[1] + numbers[2], 1.0f);
  std::vector<float> large = {1000.0f, 999.0f, -1000.0f};
  apply_score_function(bundle::ScoreFunction::kSoftmax, large);
  EXPECT_FLOAT_EQ(large[0], 1.0f / (1.0f + std::exp(-1.0f)));
  EXPECT_EQ(large[2], 0.0f);
}

TEST(Scores, RankedKeepsTheOrderOfEquals) {
  const auto results = ranked(std::vector<float>{0.5f, 1.0f, 0.5f, -1.0f}, 3);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].index, 1u);
  EXPECT_EQ(results[1].index, 0u);
  EXPECT_EQ(results[2].index, 2u);
}

TEST(Scores, Rerank) {
  const std::vector<Ranked> results = {{1, 0.75f}, {0, 0.25f}};
  const std::vector<std::string> texts = {"a", "\"b\""};
  EXPECT_EQ(tei_rerank(results, {}), R"([{"index":1,"score":0.75},{"index":0,"score":0.25}])");
  EXPECT_EQ(tei_rerank(results, texts),
            R"([{"index":1,"score":0.75,"text":"\"b\""},{"index":0,"score":0.25,"text":"a"}])");
  EXPECT_EQ(cohere_rerank({"id", "m", std::span(results).first(1), texts, 7, "2"}),
            R"({"id":"id","model":"m","results":[{"index":1,"relevance_score":0.75,"document":{"text":"\"b\""}}],)"
            R"("meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}},)"
            R"("usage":{"total_tokens":7,"prompt_tokens":7}})");
}

TEST(Scores, Predict) {
  const std::vector<float> numbers = {0.25f, 0.75f, 1.0f, 0.0f};
  const std::vector<std::string> labels = {"bad", "good"};
  EXPECT_EQ(tei_predict({std::span(numbers).first(2), 2}, labels, false),
            R"([{"score":0.75,"label":"good"},{"score":0.25,"label":"bad"}])");
  EXPECT_EQ(tei_predict({numbers, 2}, labels, true), R"([[{"score":0.75,"label":"good"},{"score":0.25,"label":"bad"}],)"
                                                     R"([{"score":1,"label":"bad"},{"score":0,"label":"good"}]])");
  EXPECT_EQ(tei_predict({std::span(numbers).first(1), 1}, {}, false), R"([{"score":0.25,"label":"LABEL_0"}])");
}

TEST(Scores, VectorsOfOtherKinds) {
  const std::vector<float> numbers = {0.0f, 1.5f, 0.0f, 0.0f, 0.0f, 2.0f};
  EXPECT_EQ(tei_embed_sparse({numbers, 3}), R"([[{"index":1,"value":1.5}],[{"index":2,"value":2}]])");
  const std::vector<std::vector<float>> rows = {{1.0f, 2.0f, 3.0f, 4.0f}, {5.0f, 6.0f}};
  EXPECT_EQ(tei_embed_all(rows, 2), "[[[1,2],[3,4]],[[5,6]]]");
  const std::vector<float> vectors = {3.0f, 4.0f, 3.0f, 4.0f, -4.0f, 3.0f, 0.0f, 0.0f};
  EXPECT_EQ(tei_similarity({vectors, 2}), "[1,0,0]");
  const std::vector<std::string> texts = {"a\n", ""};
  EXPECT_EQ(tei_decode(texts), R"(["a\n",""])");
}

}  // namespace
}  // namespace weir::serve::respond
