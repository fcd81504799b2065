// A tiny model of every family through import, held to what the family's own library computed with it
// (scripts/make_family_golden.py).
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "importer/expected_vectors_for_test.h"
#include "importer/importer.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;

class FamilyTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "/weir_family_" + GetParam();
    fs::remove_all(root_);
    fs::create_directories(root_);
    fs::copy(data(), root_ + "/source", fs::copy_options::recursive);
    fs::copy(WEIR_TEST_DATA "/families/tokenizer.json", root_ + "/source/tokenizer.json");
  }
  void TearDown() override { fs::remove_all(root_); }

  static std::string data() { return std::string(WEIR_TEST_DATA "/families/") + GetParam(); }

  std::string root_;
};

TEST_P(FamilyTest, TokenVectorsAreThoseOfItsOwnLibrary) {
  Options options;
  options.source = root_ + "/source";
  options.target = root_ + "/bundle";
  options.overrides.pooling = bundle::Pooling::kMean;
  options.overrides.normalize = false;
  options.overrides.max_tokens = 38;
  options.weir_version = "1.2.3";
  const auto summary = import_model(options);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  const auto loaded = bundle::load(options.target);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_LE(largest_difference(*loaded, data() + "/expected.json"), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, FamilyTest,
                         ::testing::Values("albert", "bert", "camembert", "deberta-v2", "deberta-v2-conv", "distilbert",
                                           "electra", "gte", "jina-bert", "jina-bert-qk-norm", "modernbert",
                                           "modernbert-bias", "mpnet", "nomic_bert", "roberta", "xlm-roberta"));

}  // namespace
}  // namespace weir::importer
