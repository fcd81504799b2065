// Foreign ONNX exports (tests/data/foreign) through import: rewritten where they are recognized and compute the same,
// run as they are where not.
#include "importer/rewrite.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <onnx/onnx-ml.pb.h>

#include "base/file.h"
#include "importer/importer.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;

class RewriteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "/weir_rewrite_" + info->name();
    fs::remove_all(root_);
    fs::create_directories(root_ + "/source");
    // Tokenizer and pooling of a model with the same vocabulary; its config.json is of other sizes and is not needed.
    for (const char* name : {"tokenizer.json", "modules.json", "1_Pooling", "sentence_bert_config.json"}) {
      fs::copy(WEIR_TEST_DATA "/tiny-bert/" + std::string(name), root_ + "/source/" + name,
               fs::copy_options::recursive);
    }
    ASSERT_TRUE(write_file(root_ + "/source/1_Pooling/config.json",
                           R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true})")
                    .ok());
    options_.source = model_path();
    options_.target = root_ + "/bundle";
    options_.replace = true;
    options_.weir_version = "1.2.3";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string model_path() const { return root_ + "/source/model.onnx"; }
  void take(const std::string& fixture) {
    fs::copy(WEIR_TEST_DATA "/foreign/" + fixture + ".onnx", model_path(), fs::copy_options::overwrite_existing);
  }
  void take(const ::onnx::ModelProto& proto) { ASSERT_TRUE(write_file(model_path(), proto.SerializeAsString()).ok()); }
  static ::onnx::ModelProto proto_of(const std::string& fixture) {
    ::onnx::ModelProto proto;
    const auto bytes = read_file(WEIR_TEST_DATA "/foreign/" + fixture + ".onnx", 1 << 20);
    EXPECT_TRUE(bytes.ok() && proto.ParseFromString(*bytes));
    return proto;
  }

  Summary imported(Rewrite rewrite) {
    options_.rewrite = rewrite;
    auto summary = import_model(options_);
    EXPECT_TRUE(summary.ok()) << summary.error().message;
    return summary.ok() ? std::move(*summary) : Summary();
  }
  std::vector<bundle::Golden> vectors(Rewrite rewrite) {
    imported(rewrite);
    const auto loaded = bundle::load(options_.target);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded.ok() ? loaded->golden : std::vector<bundle::Golden>();
  }

  std::string root_;
  Options options_;
};

double largest_difference(const std::vector<bundle::Golden>& a, const std::vector<bundle::Golden>& b) {
  double largest = a.size() == b.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (std::size_t k = 0; k < a[i].vector.size(); ++k) {
      largest = std::max(largest, std::abs(static_cast<double>(a[i].vector[k]) - b[i].vector[k]));
    }
  }
  return largest;
}

TEST_F(RewriteTest, VectorsAreThoseOfTheOriginal) {
  for (const char* fixture :
       {"bert.legacy11.eager", "bert.legacy17.sdpa", "bert.legacy17.notypes", "bert.dynamo18.sdpa",
        "bert-tanh.legacy14.eager", "distilbert.dynamo18.sdpa", "bert.legacy14.eager.optimizer",
        "bert.legacy14.eager.optimizer-mha", "albert.legacy17.sdpa", "electra-narrow.legacy14.eager.optimizer"}) {
    take(fixture);
    EXPECT_LE(largest_difference(vectors(Rewrite::kRequired), vectors(Rewrite::kNever)), 1e-4) << fixture;
  }
}

TEST_F(RewriteTest, BundleTellsWhatWasRecognized) {
  take("roberta.legacy17.pooled");
  const Summary summary = imported(Rewrite::kAuto);
  EXPECT_EQ(summary.manifest.family, "bert");
  EXPECT_EQ(summary.manifest.pooling, bundle::Pooling::kMean);
  EXPECT_TRUE(summary.manifest.normalize);
  EXPECT_FALSE(summary.manifest.has_token_type_ids);
  EXPECT_EQ(summary.manifest.pad_token_id, 1u);
  EXPECT_EQ(summary.rewrite.find("2 layers of 8, 4 heads, gelu; least cosine to the original "), 0u) << summary.rewrite;
  const bundle::Lineage& lineage = summary.manifest.lineage;
  EXPECT_EQ(lineage.steps.front(), "recognize: onnx, " + summary.rewrite);
  EXPECT_TRUE(std::any_of(lineage.sources.begin(), lineage.sources.end(),
                          [](const auto& source) { return source.file == "model.onnx"; }));
  EXPECT_FALSE(std::any_of(lineage.sources.begin(), lineage.sources.end(), [](const auto& source) {
    return source.file.find("safetensors") != std::string::npos;
  })) << "what was written on the way is no source";
  EXPECT_FALSE(fs::exists(options_.target + "/recognized"));
}

TEST_F(RewriteTest, NarrowTablesArePackedToo) {
  for (const char* fixture : {"albert.legacy17.sdpa", "electra-narrow.legacy14.eager.optimizer"}) {
    take(fixture);
    options_.precision = "fp32";
    const Summary summary = imported(Rewrite::kRequired);
    EXPECT_EQ(summary.manifest.family, "electra") << fixture;
    EXPECT_EQ(summary.manifest.layout, bundle::Layout::kPacked) << fixture;
    const auto packed = bundle::load(options_.target).value().golden;
    EXPECT_LE(largest_difference(packed, vectors(Rewrite::kNever)), 1e-4) << fixture;
  }
}

TEST_F(RewriteTest, HalfAndEightBitsAreHeldToTheirOwnRounding) {
  for (const char* fixture :
       {"bert.legacy14.eager.optimizer-fp16", "bert.legacy14.eager.dynamic", "bert.legacy14.eager.dynamic.session",
        "bert.legacy14.eager.dynamic-fused", "bert.legacy14.eager.qdq-channel", "bert.legacy14.eager.qoperator"}) {
    take(fixture);
    EXPECT_EQ(imported(Rewrite::kRequired).manifest.family, "bert") << fixture;
  }
}

TEST_F(RewriteTest, EightBitGraphsAreNotMadeLarger) {
  take("bert.legacy14.eager.dynamic");
  Summary summary = imported(Rewrite::kAuto);
  EXPECT_EQ(summary.manifest.family, "onnx");
  EXPECT_NE(summary.rewrite.find("give --precision int8"), std::string::npos) << summary.rewrite;
  options_.precision = "int8";
  summary = imported(Rewrite::kAuto);
  EXPECT_EQ(summary.manifest.layout, bundle::Layout::kPacked);
  EXPECT_EQ(summary.manifest.precision, "int8");
  EXPECT_TRUE(summary.agreement.has_value());
  EXPECT_EQ(summary.manifest.lineage.steps.size(), 2u);
}

TEST_F(RewriteTest, UnknownGraphsRunAsTheyAre) {
  ::onnx::ModelProto proto = proto_of("bert.legacy17.sdpa");
  for (auto& node : *proto.mutable_graph()->mutable_node()) {
    if (node.op_type() == "Erf") node.set_op_type("Sin");
  }
  take(proto);
  const Summary summary = imported(Rewrite::kAuto);
  EXPECT_EQ(summary.manifest.family, "onnx");
  EXPECT_NE(
      summary.rewrite.find("runs as it is: node '/model/encoder/layer.0/intermediate/intermediate_act_fn/Erf' (Sin)"),
      std::string::npos)
      << summary.rewrite;
  EXPECT_FALSE(fs::exists(options_.target + "/recognized"));
  options_.rewrite = Rewrite::kRequired;
  const auto refused = import_model(options_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().message.find("cannot be rewritten: node"), std::string::npos) << refused.error().message;
}

// Looks like BERT in a text of five tokens, but stops counting positions at the seventh.
TEST_F(RewriteTest, GraphsThatComputeSomethingElseRunAsTheyAre) {
  ::onnx::ModelProto proto = proto_of("bert.dynamo18.sdpa");
  auto& graph = *proto.mutable_graph();
  auto& six = *graph.add_initializer();
  six.set_name("six");
  six.set_data_type(::onnx::TensorProto::INT64);
  six.add_int64_data(6);
  for (int i = 0; i < graph.node_size(); ++i) {
    auto& node = *graph.mutable_node(i);
    if (node.op_type() != "Gather" || node.input(0).find("position_embeddings") == std::string::npos) continue;
    const std::string positions = node.input(1);
    node.set_input(1, "at_most_six");
    auto& least = *graph.add_node();
    least.set_op_type("Min");
    least.add_input(positions);
    least.add_input("six");
    least.add_output("at_most_six");
    for (int at = graph.node_size() - 1; at > i; --at) graph.mutable_node()->SwapElements(at, at - 1);
    break;
  }
  take(proto);
  const Summary summary = imported(Rewrite::kAuto);
  EXPECT_EQ(summary.manifest.family, "onnx");
  EXPECT_NE(summary.rewrite.find("computes something else: least cosine"), std::string::npos) << summary.rewrite;
}

TEST_F(RewriteTest, PoolingOfTheUsersTakesTheTokensRows) {
  take("roberta.legacy17.pooled");
  options_.overrides.pooling = bundle::Pooling::kCls;
  options_.overrides.normalize = false;
  const Summary summary = imported(Rewrite::kRequired);
  EXPECT_EQ(summary.manifest.pooling, bundle::Pooling::kCls);
  EXPECT_FALSE(summary.manifest.normalize);
}

TEST_F(RewriteTest, FlagsThatContradictEachOther) {
  take("bert.legacy17.sdpa");
  options_.rewrite = Rewrite::kNever;
  options_.precision = "int8";
  const auto refused = import_model(options_);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("--rewrite never"), std::string::npos) << refused.error().message;
}

TEST_F(RewriteTest, Interrupted) {
  take("bert.legacy17.sdpa");
  int asked = 0;
  options_.cancelled = [&] { return ++asked < 0; };
  imported(Rewrite::kRequired);
  const int last = asked;
  fs::remove_all(options_.target);
  for (int stop = 1; stop <= last; stop += 9) {
    asked = 0;
    options_.cancelled = [&] { return ++asked >= stop; };
    const auto refused = import_model(options_);
    ASSERT_FALSE(refused.ok()) << stop;
    EXPECT_EQ(refused.error().kind, ErrorKind::kCancelled) << stop << ": " << refused.error().message;
    EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 1) << "something is left";
  }
}

}  // namespace
}  // namespace weir::importer
