#include "serve/models/self_check.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "serve/pooling/pooling.h"

namespace weir::serve {
namespace {

namespace fs = std::filesystem;

/// Each letter of "abc…" is a token; 'n' is the toy encoder's id that gives NaN.
class LetterTokenizer : public tokenizers::Tokenizer {
 public:
  Result<tokenizers::Encoding> encode(std::string_view text, const tokenizers::EncodeOptions& options) const override {
    tokenizers::Encoding made;
    for (const char letter : text.substr(0, options.max_tokens.value_or(text.size()))) {
      if (letter < 'a' || letter > 'p') return Error(ErrorKind::kTokenizer, "not a letter");
      made.ids.push_back(letter - 'a');
      made.type_ids.push_back(0);
    }
    return made;
  }
  Result<tokenizers::Encoding> encode_pair(std::string_view, std::string_view,
                                           const tokenizers::EncodeOptions&) const override {
    return Error(ErrorKind::kUnsupported, "");
  }
  Result<tokenizers::Encoding> encode_ids(std::span<const std::int32_t>,
                                          const tokenizers::EncodeOptions&) const override {
    return Error(ErrorKind::kUnsupported, "");
  }
  Result<std::string> decode(std::span<const std::int32_t>, bool) const override {
    return Error(ErrorKind::kUnsupported, "");
  }
  std::optional<std::int32_t> token_to_id(std::string_view) const override { return std::nullopt; }
  std::string_view id_to_token(std::int32_t) const override { return ""; }
  std::uint32_t vocabulary_size() const override { return 16; }
  std::uint32_t special_tokens_added() const override { return 0; }
};

class SelfTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-self-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    bundle_.folder = pattern;
    bundle_.manifest.name = "toy";
    bundle_.manifest.dimensions = 16;
    bundle_.manifest.max_tokens = 4;
    fs::copy_file(WEIR_TEST_DATA "/onnx/encoder.onnx", bundle_.model_path());
    auto engine = engine::Engine::load({}, bundle_, registry_);
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    engine_ = std::move(engine).value();
    for (const char* text : {"abc", "d"}) bundle_.golden.push_back({text, vector(text)});
  }
  void TearDown() override { fs::remove_all(bundle_.folder); }

  std::vector<float> vector(const std::string& text) {
    const auto encoding = tokenizer_.encode(text, {}).value();
    const auto rows = engine_->compute({&encoding, 1}).value();
    std::vector<float> made(16);
    EXPECT_TRUE(pooling::pool_row(rows, 0, text.size(), pooling::rule_for({}, bundle_.manifest).value(), made).ok());
    return made;
  }

  std::string failure() {
    const auto status = self_test(*engine_, tokenizer_, bundle_);
    EXPECT_FALSE(status.ok());
    if (status.ok()) return "";
    EXPECT_EQ(status.error().kind, ErrorKind::kBackend);
    return status.error().message;
  }

  metrics::Registry registry_;
  bundle::Bundle bundle_;
  LetterTokenizer tokenizer_;
  std::unique_ptr<engine::Engine> engine_;
};

TEST_F(SelfTest, GoldenVectorsPass) {
  bundle_.golden[0].vector[3] += 5e-4F;
  const auto status = self_test(*engine_, tokenizer_, bundle_);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST_F(SelfTest, TextsAreTruncatedAsInServing) {
  bundle_.golden.push_back({"abcdefgh", vector("abcd")});
  const auto status = self_test(*engine_, tokenizer_, bundle_);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST_F(SelfTest, ADifferenceNamesModelAndText) {
  bundle_.golden[1].vector[3] += 2e-3F;
  const std::string message = failure();
  EXPECT_NE(message.find("'toy'"), std::string::npos) << message;
  EXPECT_NE(message.find("golden text 1"), std::string::npos) << message;
  EXPECT_NE(message.find("difference 0.002"), std::string::npos) << message;
}

TEST_F(SelfTest, AnotherPoolingIsCaught) {
  bundle_.manifest.pooling = bundle::Pooling::kCls;
  EXPECT_NE(failure().find("golden text 0: cosine"), std::string::npos);
}

TEST_F(SelfTest, NanAndTextsThatCannotBeEncodedFail) {
  bundle_.golden[0].text = "abn";
  EXPECT_NE(failure().find("NaN"), std::string::npos);
  bundle_.golden[0].text = "?";
  EXPECT_NE(failure().find("not a letter"), std::string::npos);
}

TEST(CompareVectors, NanNeverPasses) {
  const std::vector<float> good = {1, 0};
  const std::vector<float> bad = {std::numeric_limits<float>::quiet_NaN(), 0};
  EXPECT_TRUE(compare_vectors(good, good, {}).ok());
  EXPECT_FALSE(compare_vectors(bad, good, {}).ok());
  EXPECT_FALSE(compare_vectors(good, bad, {}).ok());
  EXPECT_FALSE(compare_vectors(good, std::vector<float>{1}, {}).ok());
}

TEST(CompareVectors, ZeroVectorsAreEqual) {
  const std::vector<float> zero = {0, 0};
  EXPECT_TRUE(compare_vectors(zero, zero, {}).ok());
  EXPECT_FALSE(compare_vectors(zero, std::vector<float>{1, 0}, {}).ok());
}

TEST(SelfTestTolerance, IsTightForFp32Only) {
  bundle::Manifest manifest;
  EXPECT_EQ(tolerance(manifest).max_difference, 1e-3);
  manifest.precision = "bf16";
  EXPECT_LT(tolerance(manifest).min_cosine, 0.9999);
  EXPECT_GE(tolerance(manifest).min_cosine, 0.999);
  manifest.precision = "int8";
  EXPECT_LT(tolerance(manifest).min_cosine, 0.9975) << "another kernel's roundings are no failure";
  EXPECT_GE(tolerance(manifest).min_cosine, 0.98);
}

}  // namespace
}  // namespace weir::serve
