#include "huggingface/pooling_config.h"

#include <string>

#include <gtest/gtest.h>

namespace weir::huggingface {
namespace {

Result<PoolingConfig> read(const std::string& json) {
  return read_pooling_config(JsonObject::parse(json, "1_Pooling/config.json").value());
}

TEST(PoolingConfig, OldForm) {
  const auto config = read(R"({"word_embedding_dimension":384,"pooling_mode_cls_token":false,
                              "pooling_mode_mean_tokens":true,"pooling_mode_max_tokens":false})");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->pooling, bundle::Pooling::kMean);
  EXPECT_EQ(config->dimensions, 384u);
  EXPECT_EQ(read(R"({"pooling_mode_cls_token":true})")->pooling, bundle::Pooling::kCls);
  EXPECT_EQ(read(R"({"pooling_mode_max_tokens":true})")->pooling, bundle::Pooling::kMax);
  EXPECT_EQ(read(R"({"pooling_mode_lasttoken":true})")->pooling, bundle::Pooling::kLast);
  EXPECT_EQ(read(R"({"pooling_mode_weightedmean_tokens":true})")->pooling, bundle::Pooling::kWeightedMean);
  EXPECT_EQ(read(R"({"pooling_mode_mean_sqrt_len_tokens":true})")->pooling, bundle::Pooling::kMeanSqrtLength);
}

TEST(PoolingConfig, NewForm) {
  EXPECT_EQ(read(R"({"embedding_dimension":8,"pooling_mode":"lasttoken"})")->pooling, bundle::Pooling::kLast);
  EXPECT_EQ(read(R"({"pooling_mode":["cls"]})")->pooling, bundle::Pooling::kCls);
  EXPECT_EQ(read(R"({"pooling_mode":"mean","embedding_dimension":8})")->dimensions, 8u);
}

TEST(PoolingConfig, RefusedByName) {
  const auto refusal = [](const std::string& json) {
    const auto config = read(json);
    if (config.ok()) return std::string("it was accepted");
    EXPECT_EQ(config.error().where, "1_Pooling/config.json");
    return config.error().message;
  };
  const auto expect = [&](const std::string& json, const std::string& part) {
    EXPECT_NE(refusal(json).find(part), std::string::npos) << refusal(json);
  };
  expect(R"({"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":true})", "cls + mean");
  expect(R"({"pooling_mode":["cls","max"]})", "cls + max");
  expect(R"({"pooling_mode":"median"})", "'median' is not supported");
  expect(R"({"pooling_mode":"mean","include_prompt":false})", "include_prompt");
  expect(R"({})", "give --pooling");
  expect(R"({"pooling_mode_cls_token":"yes"})", "expected true or false");
}

}  // namespace
}  // namespace weir::huggingface
