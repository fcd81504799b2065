// Weights of words against the formula, in every precision: more words and tokens than are computed at once, the same
// bits whatever lies beside a text, and errors for inputs that do not fit.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/cosine.h"
#include "families/packed_operators.h"
#include "onnx/graph_builder.h"
#include "session/session.h"

namespace weir::ops {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kHidden = 96;
constexpr std::int64_t kWords = 2503;
constexpr std::int64_t kIds = 37;
using Ids = std::vector<std::int64_t>;

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.2F);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

/// A table of vectors by id, and the operator on them: what a token gives is what its id says.
class WordWeightsTest : public ::testing::TestWithParam<families::PackedPrecision> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-words-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    vectors_ = random_values(kIds * kHidden, 1);
    weights_ = random_values(kWords * kHidden, 2);
    bias_ = random_values(kWords, 3);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(std::int64_t columns = kHidden) {
    auto file = onnx::WeightsFile::create(folder_ + "/model.weights").value();
    onnx::GraphBuilder graph("words", &file);
    graph.input("input_ids", onnx::ElementType::kInt64, {"tokens"});
    graph.input("offsets", onnx::ElementType::kInt64, {"boundaries"});
    const std::vector<float> table(vectors_.begin(), vectors_.begin() + kIds * columns);
    graph.weight("table", {kIds, columns}, table);
    graph.node("Gather", {"table", "input_ids"}, "hidden");
    families::PackedOperators operators(graph, GetParam());
    const std::string packed = operators.weights("words", weights_, bias_, kHidden, kWords).value();
    operators.word_weights("word_weights", "hidden", "offsets", packed);
    graph.output("word_weights", onnx::ElementType::kFloat, {"texts", kWords});
    ASSERT_TRUE(file.finish().ok());
    ASSERT_TRUE(graph.save(folder_ + "/model.onnx").ok());
  }
  std::unique_ptr<session::Session> load(int threads) {
    session::Options options;
    options.intra_op_threads = threads;
    return session::Session::load(folder_ + "/model.onnx", options).value();
  }
  static Result<std::vector<float>> run(session::Session& session, const std::vector<Ids>& texts) {
    Ids ids;
    Ids offsets = {0};
    for (const Ids& text : texts) {
      ids.insert(ids.end(), text.begin(), text.end());
      offsets.push_back(static_cast<std::int64_t>(ids.size()));
    }
    session::Batch batch;
    batch.rows = texts.size();
    batch.input_ids = ids;
    batch.offsets = offsets;
    WEIR_ASSIGN_OR_RETURN(const auto output, session.run(batch, "word_weights"));
    return std::vector<float>(output.values().begin(), output.values().end());
  }

  std::vector<float> expected(const Ids& text) const {
    std::vector<float> result(kWords, 0.0F);
    for (const std::int64_t id : text) {
      for (std::int64_t word = 0; word < kWords; ++word) {
        double logit = bias_[word];
        for (std::int64_t i = 0; i < kHidden; ++i) {
          logit += static_cast<double>(vectors_[id * kHidden + i]) * weights_[word * kHidden + i];
        }
        result[word] = std::max(result[word], static_cast<float>(std::log1p(std::max(logit, 0.0))));
      }
    }
    return result;
  }

  static std::vector<Ids> sample_texts() {
    std::mt19937 random(4);
    std::vector<Ids> texts;
    for (const std::size_t length : {1, 63, 64, 65, 2, 130, 7}) {
      Ids text(length);
      for (std::int64_t& id : text) id = static_cast<std::int64_t>(random() % kIds);
      texts.push_back(text);
    }
    return texts;
  }

  std::string folder_;
  std::vector<float> vectors_, weights_, bias_;
};

TEST_P(WordWeightsTest, AreThoseOfTheFormula) {
  write();
  const auto session = load(1);
  const bool exact = GetParam() == families::PackedPrecision::kFp32;
  for (const Ids& text : sample_texts()) {
    const auto found = run(*session, {text});
    ASSERT_TRUE(found.ok()) << found.error().message;
    const std::vector<float> wanted = expected(text);
    ASSERT_EQ(found->size(), wanted.size());
    EXPECT_GT(cosine(*found, wanted), exact ? 0.999999 : 0.999);
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR((*found)[i], wanted[i], exact ? 1e-5 : 0.05) << i;
  }
}

TEST_P(WordWeightsTest, HaveTheSameBitsAloneAndAmongOthersOnAnyNumberOfThreads) {
  write();
  const auto one = load(1);
  const auto three = load(3);
  const std::vector<Ids> texts = sample_texts();
  const auto together = run(*three, texts);
  ASSERT_TRUE(together.ok()) << together.error().message;
  EXPECT_EQ(run(*one, texts).value(), *together);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto row = together->begin() + static_cast<std::ptrdiff_t>(i * kWords);
    EXPECT_EQ(run(*one, {texts[i]}).value(), std::vector<float>(row, row + kWords)) << i;
    EXPECT_EQ(run(*three, {texts[i]}).value(), std::vector<float>(row, row + kWords)) << i;
  }
}

TEST_P(WordWeightsTest, NaNIsPassedOn) {
  vectors_[5 * kHidden] = std::numeric_limits<float>::quiet_NaN();
  write();
  const auto session = load(1);
  const auto found = run(*session, {{1, 2}, {1, 5, 2}});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(std::none_of(found->begin(), found->begin() + kWords, [](float value) { return std::isnan(value); }));
  EXPECT_TRUE(std::all_of(found->begin() + kWords, found->end(), [](float value) { return std::isnan(value); }));
}

TEST_P(WordWeightsTest, VectorsOfAnotherWidthAreRefused) {
  write(kHidden / 2);
  const auto session = load(1);
  const auto found = run(*session, {{1, 2}});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("'hidden' has 48 columns"), std::string::npos) << found.error().message;
}

TEST_P(WordWeightsTest, TextsWithoutTokensAreRefused) {
  write();
  const auto session = load(1);
  const auto found = run(*session, {{1, 2}, {}});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("at least one token"), std::string::npos) << found.error().message;
}

INSTANTIATE_TEST_SUITE_P(All, WordWeightsTest,
                         ::testing::Values(families::PackedPrecision::kFp32, families::PackedPrecision::kBf16,
                                           families::PackedPrecision::kInt8));

}  // namespace
}  // namespace weir::ops
