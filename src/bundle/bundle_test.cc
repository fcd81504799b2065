#include "bundle/bundle.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace weir::bundle {
namespace {

namespace fs = std::filesystem;
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void put(const std::string& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

class BundleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-bundle-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Manifest manifest() {
    Manifest manifest;
    manifest.name = "sample";
    manifest.family = "bert";
    manifest.dimensions = 2;
    manifest.max_tokens = 16;
    manifest.vocabulary_size = 10;
    manifest.lineage.weir_version = "0.1.0";
    manifest.lineage.created = "2026-01-31T12:00:00Z";
    return manifest;
  }

  void write_all() {
    ASSERT_TRUE(write_manifest(folder_, manifest()).ok());
    ASSERT_TRUE(write_golden(folder_, {{"a", {0.6F, 0.8F}}}).ok());
    put(folder_ + "/model.onnx", "graph");
    put(folder_ + "/tokenizer.json", "{}");
  }

  std::string folder_;
};

TEST_F(BundleTest, LoadsWhatWasWritten) {
  write_all();
  const auto bundle = load(folder_);
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  EXPECT_EQ(bundle->manifest.name, "sample");
  EXPECT_EQ(bundle->golden.front().vector, (std::vector<float>{0.6F, 0.8F}));
  EXPECT_EQ(bundle->model_path(), folder_ + "/model.onnx");
}

TEST_F(BundleTest, NoFolderAndNoManifestAreNotFound) {
  const auto missing = load(folder_ + "/nowhere");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  const auto empty = load(folder_);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().kind, ErrorKind::kNotFound);
  EXPECT_PRED2(contains, empty.error().message, "weir.json");
  put(folder_ + "/file", "");
  EXPECT_EQ(load(folder_ + "/file").error().kind, ErrorKind::kNotFound);
}

TEST_F(BundleTest, AMissingPartIsNamed) {
  for (const char* name : {"model.onnx", "tokenizer.json", "golden.json"}) {
    write_all();
    fs::remove(folder_ + "/" + name);
    const auto bundle = load(folder_);
    ASSERT_FALSE(bundle.ok()) << name;
    EXPECT_EQ(bundle.error().kind, ErrorKind::kCorrupt);
    EXPECT_PRED2(contains, bundle.error().message, name);
  }
}

TEST_F(BundleTest, GoldenVectorsOfAnotherLengthAreRefused) {
  write_all();
  ASSERT_TRUE(write_golden(folder_, {{"a", {1, 2, 3}}}).ok());
  const auto bundle = load(folder_);
  ASSERT_FALSE(bundle.ok());
  EXPECT_PRED2(contains, bundle.error().message, "golden.json");
}

TEST_F(BundleTest, AnOversizedManifestIsRefused) {
  write_all();
  put(folder_ + "/weir.json", std::string(5 << 20, ' '));
  const auto bundle = load(folder_);
  ASSERT_FALSE(bundle.ok());
  EXPECT_PRED2(contains, bundle.error().message, "larger than the limit");
}

TEST_F(BundleTest, WhatLoadWouldRefuseIsNotWritten) {
  Manifest contradicting = manifest();
  contradicting.pad_token_id = 10;
  EXPECT_EQ(write_manifest(folder_, contradicting).error().kind, ErrorKind::kCorrupt);
  Manifest not_utf8 = manifest();
  not_utf8.name = "\xFF";
  EXPECT_PRED2(contains, write_manifest(folder_, not_utf8).error().message, "UTF-8");
  EXPECT_FALSE(write_golden(folder_, {}).ok());
  EXPECT_FALSE(write_golden(folder_, {{"a", {std::nanf("")}}}).ok());
  EXPECT_FALSE(write_golden(folder_, {{"a", {1}}, {"b", {1, 2}}}).ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BundleTest, AFolderThatCannotBeWrittenIsAnError) {
  const auto status = write_manifest(folder_ + "/nowhere", manifest());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kIo);
}

TEST_F(BundleTest, Sha256IsTheStandards) {
  put(folder_ + "/abc", "abc");
  put(folder_ + "/empty", "");
  EXPECT_EQ(sha256_file(folder_ + "/abc").value(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_file(folder_ + "/empty").value(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_file(folder_ + "/none").error().kind, ErrorKind::kNotFound);
}

TEST(PoolingNames, GoBothWays) {
  for (const auto pooling : {Pooling::kMean, Pooling::kCls, Pooling::kMax, Pooling::kLast}) {
    EXPECT_EQ(pooling_from_name(pooling_name(pooling)), pooling);
  }
  EXPECT_FALSE(pooling_from_name("median"));
}

}  // namespace
}  // namespace weir::bundle
