// A tiny model of every family through import, held to what the family's own library computed with it
// (scripts/make_family_golden.py).
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "importer/expected_vectors_for_test.h"
#include "importer/importer.h"
#include "importer/packing.h"

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

  /// Of the model imported in this form from its own library's vectors.
  Distance distance_in(const std::string& precision, bool padded) const {
    Options options;
    options.source = root_ + "/source";
    options.target = root_ + "/bundle-" + precision;
    options.overrides.pooling = bundle::Pooling::kMean;
    options.overrides.normalize = false;
    options.overrides.max_tokens = 38;
    options.weir_version = "1.2.3";
    options.precision = precision;
    options.padded = padded;
    const auto summary = import_model(options);
    if (!summary.ok()) {
      ADD_FAILURE() << summary.error().message;
      return {};
    }
    const auto loaded = bundle::load(options.target);
    const auto layout = padded ? bundle::Layout::kPadded : bundle::Layout::kPacked;
    EXPECT_TRUE(loaded->manifest.layout == layout || !reason_against(precision)->empty()) << summary->precision_reason;
    EXPECT_EQ(loaded->manifest.precision, precision);
    return distance(*loaded, data() + "/expected.json");
  }

  static std::string data() { return std::string(WEIR_TEST_DATA "/families/") + GetParam(); }

  std::string root_;
};

TEST_P(FamilyTest, VectorsAreThoseOfItsOwnLibrary) { EXPECT_LE(distance_in("fp32", true).largest_difference, 1e-4); }

TEST_P(FamilyTest, PackedVectorsAreThoseOfItsOwnLibrary) {
  EXPECT_LE(distance_in("fp32", false).largest_difference, 1e-4);
}

/// Layers of 16 columns with random weights of all sizes are harsher to roundings than any trained model.
TEST_P(FamilyTest, PackedVectorsInFewerBitsAreNearThem) {
  EXPECT_GE(distance_in("bf16", false).least_cosine, 0.999);
  EXPECT_GE(distance_in("int8", false).least_cosine, 0.97);
}

/// What it takes hangs on the machine and, with such small layers, on how int8 rounds them; that it holds what it asks
/// for, and says so, does not.
TEST_P(FamilyTest, AutoTakesWhatAgrees) {
  Options options;
  options.source = root_ + "/source";
  options.target = root_ + "/bundle-auto";
  options.overrides.pooling = bundle::Pooling::kMean;
  options.overrides.normalize = false;
  options.overrides.max_tokens = 38;
  options.weir_version = "1.2.3";
  options.precision = "auto";
  const auto summary = import_model(options);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  const bundle::Manifest manifest = bundle::load(options.target).value().manifest;
  EXPECT_EQ(manifest.layout, bundle::Layout::kPacked);
  EXPECT_FALSE(summary->precision_reason.empty());
  ASSERT_TRUE(summary->agreement.has_value());
  EXPECT_TRUE(summary->agreement->good(manifest.precision)) << manifest.precision << ": " << summary->agreement->text();
  const std::string step = "import: " + manifest.family + ", " + manifest.precision + ", packed; cosine to fp32";
  EXPECT_EQ(manifest.lineage.steps.front().substr(0, step.size()), step);
  const double least = distance(bundle::load(options.target).value(), data() + "/expected.json").least_cosine;
  EXPECT_GE(least, manifest.precision == "int8" ? 0.985 : 0.999) << manifest.precision;
}

INSTANTIATE_TEST_SUITE_P(All, FamilyTest,
                         ::testing::Values("albert", "bert", "camembert", "deberta-v2", "deberta-v2-conv", "distilbert",
                                           "electra", "gte", "jina-bert", "jina-bert-qk-norm", "modernbert",
                                           "modernbert-bias", "mpnet", "nomic_bert", "roberta", "xlm-roberta"));

}  // namespace
}  // namespace weir::importer
