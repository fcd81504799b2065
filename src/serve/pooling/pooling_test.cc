#include "serve/pooling/pooling.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weir::serve::pooling {
namespace {

using bundle::Pooling;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr Pooling kAll[] = {Pooling::kMean, Pooling::kCls, Pooling::kMax, Pooling::kLast};

std::vector<float> pooled(const std::vector<float>& tokens, std::size_t hidden, const Rule& rule) {
  std::vector<float> vector(rule.dimensions);
  const auto status = pool_tokens(tokens, hidden, rule, vector);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return vector;
}

TEST(Pooling, EachKindOnNumbersToCheckByHand) {
  const std::vector<float> tokens = {1, -2, 3, /**/ 4, -8, 0, /**/ 1, 1, -9};
  EXPECT_EQ(pooled(tokens, 3, {Pooling::kMean, false, 3}), (std::vector<float>{2, -3, -2}));
  EXPECT_EQ(pooled(tokens, 3, {Pooling::kCls, false, 3}), (std::vector<float>{1, -2, 3}));
  EXPECT_EQ(pooled(tokens, 3, {Pooling::kMax, false, 3}), (std::vector<float>{4, 1, 3}));
  EXPECT_EQ(pooled(tokens, 3, {Pooling::kLast, false, 3}), (std::vector<float>{1, 1, -9}));
}

TEST(Pooling, ACutVectorIsNormalizedAnew) {
  const std::vector<float> tokens = {3, 4, 1000};
  EXPECT_EQ(pooled(tokens, 3, {Pooling::kMean, false, 2}), (std::vector<float>{3, 4}));
  EXPECT_EQ(pooled(tokens, 3, {Pooling::kMean, true, 2}), (std::vector<float>{0.6F, 0.8F}));
}

TEST(Pooling, ZeroAndTinyVectorsDoNotDivideByZero) {
  EXPECT_EQ(pooled({0, 0}, 2, {Pooling::kMean, true, 2}), (std::vector<float>{0, 0}));
  EXPECT_FLOAT_EQ(pooled({1e-20F, 0}, 2, {Pooling::kMean, true, 2})[0], 1e-8F);
}

TEST(Pooling, LargeValuesDoNotOverflow) {
  const float large = std::numeric_limits<float>::max();
  EXPECT_EQ(pooled({large, large}, 1, {Pooling::kMean, false, 1}), (std::vector<float>{large}));
  EXPECT_FLOAT_EQ(pooled({large, large}, 2, {Pooling::kMean, true, 2})[0], std::sqrt(0.5F));
}

TEST(Pooling, NoTokensIsAnError) {
  std::vector<float> vector(2);
  const auto status = pool_tokens({}, 2, {Pooling::kMean, true, 2}, vector);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kEmptyInput);
}

TEST(Pooling, NanAndInfAreErrorsOfTheRowThatHasThem) {
  // Two rows of two columns; the second row's values are bad in turn, and its first token has a bad one last.
  for (const Pooling pooling : kAll) {
    for (const float bad : {kNan, kInf, -kInf}) {
      std::vector<float> values(8, 1.0F);
      values[5] = values[7] = bad;
      const HiddenRows hidden{values, 2, 2, 2};
      std::vector<float> vector(2);
      EXPECT_TRUE(pool_row(hidden, 0, 2, {pooling, true, 2}, vector).ok());
      const auto status = pool_row(hidden, 1, 2, {pooling, true, 2}, vector);
      ASSERT_FALSE(status.ok()) << bundle::pooling_name(pooling) << " " << bad;
      EXPECT_EQ(status.error().kind, ErrorKind::kBackend);
    }
  }
}

TEST(Pooling, MaxDoesNotStepOverNan) {
  std::vector<float> vector(1);
  EXPECT_FALSE(pool_tokens(std::vector<float>{1, kNan, 2}, 1, {Pooling::kMax, false, 1}, vector).ok());
}

TEST(Pooling, PaddingIsNeverRead) {
  const std::vector<float> values = {1, 2, kNan, kInf, /**/ 5, 6, 7, 8};
  std::vector<float> vector(2);
  for (const Pooling pooling : kAll) {
    ASSERT_TRUE(pool_row({values, 2, 2, 2}, 0, 1, {pooling, false, 2}, vector).ok());
    EXPECT_EQ(vector, (std::vector<float>{1, 2}));
  }
}

TEST(Pooling, SameBitsInAnyBatch) {
  constexpr std::size_t kHidden = 300;
  constexpr std::size_t kTokens = 7;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> tokens(kTokens * kHidden);
  for (float& value : tokens) value = normal(random);
  for (const Pooling pooling : kAll) {
    const Rule rule{pooling, true, kHidden};
    const auto alone = pooled(tokens, kHidden, rule);
    for (const std::size_t columns : {kTokens, kTokens + 1, std::size_t{64}}) {
      for (std::size_t row = 0; row < 3; ++row) {
        std::vector<float> values(3 * columns * kHidden);
        for (float& value : values) value = normal(random);
        std::copy(tokens.begin(), tokens.end(), values.begin() + static_cast<std::ptrdiff_t>(row * columns * kHidden));
        std::vector<float> vector(kHidden);
        ASSERT_TRUE(pool_row({values, 3, columns, kHidden}, row, kTokens, rule, vector).ok());
        EXPECT_EQ(vector, alone);
      }
    }
  }
}

TEST(Pooling, AGraphThatPoolsIsTakenAsItIs) {
  const std::vector<float> values = {3, 4, /**/ 6, 8};
  std::vector<float> vector(2);
  for (const Pooling pooling : kAll) {
    ASSERT_TRUE(pool_row({values, 2, 0, 2}, 1, 17, {pooling, true, 2}, vector).ok());
    EXPECT_EQ(vector, (std::vector<float>{0.6F, 0.8F}));
  }
}

TEST(PoolingRule, ComesFromTheManifestUnlessTheRequestSays) {
  bundle::Manifest manifest;
  manifest.dimensions = 8;
  manifest.pooling = Pooling::kLast;
  manifest.normalize = true;
  auto rule = rule_for({}, manifest);
  ASSERT_TRUE(rule.ok());
  EXPECT_EQ(rule->pooling, Pooling::kLast);
  EXPECT_TRUE(rule->normalize);
  EXPECT_EQ(rule->dimensions, 8U);

  EmbedOptions options;
  options.normalize = false;
  options.dimensions = 3;
  rule = rule_for(options, manifest);
  ASSERT_TRUE(rule.ok());
  EXPECT_FALSE(rule->normalize);
  EXPECT_EQ(rule->dimensions, 3U);
}

TEST(PoolingRule, LengthsTheModelDoesNotHaveAreRefused) {
  bundle::Manifest manifest;
  manifest.name = "sample";
  manifest.dimensions = 8;
  EmbedOptions options;
  for (const std::uint32_t wrong : {0U, 9U}) {
    options.dimensions = wrong;
    const auto rule = rule_for(options, manifest);
    ASSERT_FALSE(rule.ok());
    EXPECT_EQ(rule.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_EQ(rule.error().where, "dimensions");
  }
  manifest.matryoshka_dimensions = {4, 2};
  options.dimensions = 3;
  const auto rule = rule_for(options, manifest);
  ASSERT_FALSE(rule.ok());
  EXPECT_NE(rule.error().message.find("4, 2"), std::string::npos);
  for (const std::uint32_t right : {8U, 4U, 2U}) {
    options.dimensions = right;
    EXPECT_TRUE(rule_for(options, manifest).ok());
  }
}

TEST(Pooling, MeansThatAreWeighted) {
  const std::vector<float> tokens = {1.0f, 4.0f, 7.0f};
  float value = 0;
  const std::span<float> vector(&value, 1);
  ASSERT_TRUE(pool_tokens(tokens, 1, {bundle::Pooling::kMeanSqrtLength, false, 1}, vector).ok());
  EXPECT_FLOAT_EQ(value, 12.0f / std::sqrt(3.0f));
  ASSERT_TRUE(pool_tokens(tokens, 1, {bundle::Pooling::kWeightedMean, false, 1}, vector).ok());
  EXPECT_FLOAT_EQ(value, 5.0f);
}

TEST(Pooling, TokenRowsAreOnlyTheRealOnes) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<float> rows;
  const std::vector<std::int32_t> ids = {101, 7, 102};
  const std::span all(ids);
  ASSERT_TRUE(token_rows({values, 2, 3, 2}, 1, all.first(2), {0, 2}, rows).ok());
  EXPECT_EQ(rows, (std::vector<float>{7, 8, 9, 10}));
  ASSERT_TRUE(token_rows({values, 2, 3, 2}, 1, all, {1, 1, true, true}, rows).ok());
  EXPECT_EQ(rows, (std::vector<float>{1, 1}));
  const std::vector<std::uint32_t> skipped = {7, 8};
  ASSERT_TRUE(token_rows({values, 2, 3, 2}, 1, all, {0, 2, false, false, skipped}, rows).ok());
  EXPECT_EQ(rows, (std::vector<float>{7, 8, 11, 12}));
  const std::vector<float> bad = {1, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(token_rows({bad, 1, 1, 2}, 0, all.first(1), {0, 2}, rows).error().kind, ErrorKind::kBackend);
}

TEST(Pooling, WindowsBecomeOne) {
  const std::vector<float> first = {1.0f, -1.0f};
  const std::vector<float> second = {4.0f, 2.0f};
  std::vector<float> joined(2);
  WindowJoiner mean(WindowPooling::kMean, 2);
  mean.begin(first, 10);
  mean.add(second, 5);
  mean.finish(false, joined);
  EXPECT_EQ(joined, (std::vector<float>{2.0f, 0.0f}));
  mean.finish(true, joined);
  EXPECT_EQ(joined, (std::vector<float>{1.0f, 0.0f}));
  WindowJoiner max(WindowPooling::kMax, 2);
  max.begin(first, 10);
  max.add(second, 5);
  max.finish(false, joined);
  EXPECT_EQ(joined, second);
}

}  // namespace
}  // namespace weir::serve::pooling
