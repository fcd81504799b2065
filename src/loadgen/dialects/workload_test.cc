#include "loadgen/dialects/workload.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

class WorkloadFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ =
        ::testing::TempDir() + "workload_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl";
  }
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& content) const { std::ofstream(path_) << content; }

  std::string path_;
};

TEST_F(WorkloadFile, TextsAreGroupedIntoRequestsAndTheLastIsFilledUp) {
  write("{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n");
  WorkloadOptions options;
  options.file = path_;
  options.texts_per_request = 2;
  const auto workload = make_workload(options);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(workload->requests, (std::vector<std::vector<std::string>>{{"a", "b"}, {"c", "a"}}));
  EXPECT_EQ(workload->sizes[0].texts, 2u);
  EXPECT_EQ(workload->sizes[0].tokens, 0u);
  EXPECT_EQ(workload->mean_tokens, 0);
}

TEST_F(WorkloadFile, WhatHoldsNoTextIsRefused) {
  WorkloadOptions options;
  options.file = path_;
  EXPECT_EQ(make_workload(options).error().kind, ErrorKind::kNotFound);
  write("");
  EXPECT_EQ(make_workload(options).error().kind, ErrorKind::kInvalidArgument);
  write("{\"text\":\"a\"}\n{\"text\":\"\"}\n");  // which servers refuse
  EXPECT_NE(make_workload(options).error().message.find(path_ + ":2"), std::string::npos);
  write("{\"other\":1}\n");
  EXPECT_NE(make_workload(options).error().message.find(path_ + ":1"), std::string::npos);
}

TEST(Workload, TokensAreCountedWithTheModelsTokenizer) {
  WorkloadOptions options;
  options.tokenizer = std::string(WEIR_TEST_DATA) + "/tiny-bert";
  options.max_tokens = 12;
  const auto workload = make_workload(options);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(workload->longest_tokens, 12u);
  EXPECT_GT(workload->mean_tokens, 3);
  EXPECT_GE(workload->mean_square_tokens, workload->mean_tokens * workload->mean_tokens);
  for (const RequestSize& size : workload->sizes) EXPECT_GT(size.tokens, 0u);
}

TEST(Workload, MadeUpTextsHaveTheSpreadThatTheyClaim) {
  const std::vector<std::string> texts = made_up_texts(2000);
  EXPECT_EQ(texts, made_up_texts(2000));
  std::vector<double> words;
  double sum = 0;
  for (const std::string& text : texts) {
    words.push_back(1.0 + static_cast<double>(std::count(text.begin(), text.end(), ' ')));
    sum += words.back();
  }
  std::sort(words.begin(), words.end());
  EXPECT_NEAR(words[1000], 35, 3);
  EXPECT_NEAR(sum / 2000, 54, 5);
  EXPECT_GE(words.front(), 3);
  EXPECT_LE(words.back(), 400);
}

}  // namespace
}  // namespace weir::loadgen
