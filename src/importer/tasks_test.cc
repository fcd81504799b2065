// Tiny models with heads through import, held to what `transformers` computed with them (scripts/make_task_golden.py),
// and label maps that contradict themselves.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "base/file.h"
#include "importer/importer.h"
#include "session/session.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;

class TaskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "/weir_task_" + info->name();
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void prepare(const std::string& name) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    fs::copy(std::string(WEIR_TEST_DATA "/tasks/") + name, root_ + "/source", fs::copy_options::recursive);
    fs::copy(WEIR_TEST_DATA "/families/tokenizer.json", root_ + "/source/tokenizer.json");
    options_.source = root_ + "/source";
    options_.target = root_ + "/bundle";
    options_.overrides.max_tokens = 38;
    options_.weir_version = "1.2.3";
  }
  void replace_in_config(const std::string& from, const std::string& to) {
    std::string text = read_file(root_ + "/source/config.json", 1 << 20).value();
    const auto position = text.find(from);
    ASSERT_NE(position, std::string::npos) << from;
    ASSERT_TRUE(write_file(root_ + "/source/config.json", text.replace(position, from.size(), to)).ok());
  }
  void expect_refused(const std::string& part, ErrorKind kind) {
    const auto summary = import_model(options_);
    ASSERT_FALSE(summary.ok()) << part;
    EXPECT_NE(summary.error().message.find(part), std::string::npos) << summary.error().message;
    EXPECT_EQ(summary.error().kind, kind) << summary.error().message;
  }

  bundle::Manifest import() {
    const auto summary = import_model(options_);
    EXPECT_TRUE(summary.ok()) << summary.error().message;
    return summary.ok() ? summary->manifest : bundle::Manifest();
  }

  /// The largest difference of any number of expected.json.
  double difference(const bundle::Manifest& manifest) {
    const auto tokenizer = tokenizers::Tokenizer::from_file(root_ + "/bundle/tokenizer.json").value();
    const auto session = session::Session::load(root_ + "/bundle/model.onnx", session::Options()).value();
    simdjson::dom::parser parser;
    double largest = 0;
    for (const auto entry : parser.load(root_ + "/source/expected.json").get_array()) {
      const std::string text(entry["text"].get_string().value());
      std::string_view pair;
      const bool is_pair = entry["pair"].get(pair) == simdjson::SUCCESS;
      const auto encoding = is_pair ? tokenizer->encode_pair(text, pair, {}) : tokenizer->encode(text, {});
      const std::vector<std::int64_t> ids(encoding->ids.begin(), encoding->ids.end());
      const std::vector<std::int64_t> types(encoding->type_ids.begin(), encoding->type_ids.end());
      const std::vector<std::int64_t> mask(ids.size(), 1);
      const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(ids.size())};
      session::Batch batch{1, ids.size(), ids, mask, types};
      if (manifest.layout == bundle::Layout::kPacked) batch.offsets = offsets;
      const auto output = session->run(batch, manifest.output_name);
      EXPECT_TRUE(output.ok()) << output.error().message;
      const auto found = output->values();
      const simdjson::dom::array wanted = entry["numbers"].get_array().value();
      EXPECT_EQ(found.size(), wanted.size());
      std::size_t i = 0;
      for (const double number : wanted) largest = std::max(largest, std::abs(number - found[i++]));
    }
    return largest;
  }

  /// The bundle in fp32, padded and packed, gives the numbers; bf16 and int8 are near them and packed.
  void expect_numbers_in_every_form(double bf16, double int8) {
    options_.replace = true;
    options_.padded = true;
    bundle::Manifest manifest = import();
    EXPECT_EQ(manifest.layout, bundle::Layout::kPadded);
    EXPECT_LE(difference(manifest), 1e-4);
    options_.padded = false;
    for (const auto& [precision, tolerance] : {std::pair{"bf16", bf16}, {"int8", int8}, {"fp32", 1e-4}}) {
      options_.precision = precision;
      manifest = import();
      EXPECT_EQ(manifest.layout, bundle::Layout::kPacked) << precision;
      EXPECT_EQ(manifest.precision, precision);
      EXPECT_LE(difference(manifest), tolerance) << precision;
    }
  }

  std::string root_;
  Options options_;
};

TEST_F(TaskTest, Reranker) {
  prepare("rerank");
  const bundle::Manifest manifest = import();
  EXPECT_EQ(manifest.task, bundle::Task::kRerank);
  EXPECT_EQ(manifest.dimensions, 1u);
  EXPECT_EQ(manifest.score_function, bundle::ScoreFunction::kSigmoid);
  EXPECT_FALSE(manifest.normalize);
  expect_numbers_in_every_form(0.04, 0.1);
}

TEST_F(TaskTest, GoldenTextsOfRerankersArePairs) {
  prepare("rerank");
  import();
  const auto bundle = bundle::load(options_.target);
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  ASSERT_FALSE(bundle->golden.empty());
  for (const bundle::Golden& golden : bundle->golden) EXPECT_TRUE(golden.pair.has_value()) << golden.text;
}

TEST_F(TaskTest, GoldenPairsTellWhetherSegmentIdsAreRight) {
  prepare("rerank");
  const bundle::Manifest manifest = import();
  ASSERT_TRUE(manifest.has_token_type_ids);
  const auto bundle = bundle::load(options_.target).value();
  const auto tokenizer = tokenizers::Tokenizer::from_file(bundle.tokenizer_path()).value();
  const auto session = session::Session::load(bundle.model_path(), session::Options()).value();
  const auto score = [&](const tokenizers::Encoding& encoding, bool with_types) {
    const std::vector<std::int64_t> ids(encoding.ids.begin(), encoding.ids.end());
    std::vector<std::int64_t> types(encoding.type_ids.begin(), encoding.type_ids.end());
    if (!with_types) std::fill(types.begin(), types.end(), 0);
    const std::vector<std::int64_t> mask(ids.size(), 1);
    const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(ids.size())};
    session::Batch batch{1, ids.size(), ids, mask, types};
    if (manifest.layout == bundle::Layout::kPacked) batch.offsets = offsets;
    return session->run(batch, manifest.output_name).value().values().front();
  };
  tokenizers::EncodeOptions options;
  options.max_tokens = manifest.max_tokens;
  float largest = 0;
  for (const bundle::Golden& golden : bundle.golden) {
    const auto encoding = tokenizer->encode_pair(golden.text, *golden.pair, options).value();
    EXPECT_NEAR(score(encoding, true), golden.vector.front(), 1e-5) << *golden.pair;
    largest = std::max(largest, std::abs(score(encoding, false) - golden.vector.front()));
  }
  EXPECT_GT(largest, 0.1F);
}

TEST_F(TaskTest, ClassifierOfLabelsThatExcludeEachOther) {
  prepare("classify");
  const bundle::Manifest manifest = import();
  EXPECT_EQ(manifest.task, bundle::Task::kClassify);
  EXPECT_EQ(manifest.labels, (std::vector<std::string>{"bad", "so so", "good"}));
  EXPECT_EQ(manifest.score_function, bundle::ScoreFunction::kSoftmax);
  expect_numbers_in_every_form(0.04, 0.1);
}

TEST_F(TaskTest, ClassifierOfSeveralLabels) {
  prepare("multi_label");
  const bundle::Manifest manifest = import();
  EXPECT_EQ(manifest.score_function, bundle::ScoreFunction::kSigmoid);
  expect_numbers_in_every_form(0.04, 0.1);
}

TEST_F(TaskTest, TokenClassifier) {
  prepare("token_classify");
  const bundle::Manifest manifest = import();
  EXPECT_EQ(manifest.task, bundle::Task::kTokenClassify);
  EXPECT_EQ(manifest.output, bundle::Output::kTokenVectors);
  EXPECT_EQ(manifest.labels.size(), 4u);
  expect_numbers_in_every_form(0.05, 0.2);
}

TEST_F(TaskTest, SparseModel) {
  prepare("sparse");
  options_.overrides.task = bundle::Task::kSparse;
  const bundle::Manifest manifest = import();
  EXPECT_EQ(manifest.task, bundle::Task::kSparse);
  EXPECT_EQ(manifest.dimensions, 64u);
  expect_numbers_in_every_form(0.1, 0.4);
}

TEST_F(TaskTest, SparseModelByItsModules) {
  prepare("sparse");
  fs::create_directories(root_ + "/source/1_SpladePooling");
  const std::string modules = R"([{"path":"","type":"sentence_transformers.sparse_encoder.models.MLMTransformer"},)"
                              R"({"path":"1_SpladePooling","type":)"
                              R"("sentence_transformers.sparse_encoder.models.SpladePooling"}])";
  ASSERT_TRUE(write_file(root_ + "/source/modules.json", modules).ok());
  const std::string pooling = root_ + "/source/1_SpladePooling/config.json";
  ASSERT_TRUE(write_file(pooling, R"({"pooling_strategy":"max"})").ok());
  EXPECT_EQ(import().task, bundle::Task::kSparse);
  ASSERT_TRUE(write_file(pooling, R"({"pooling_strategy":"sum"})").ok());
  options_.replace = true;
  expect_refused("'sum' is not supported; weir has max", ErrorKind::kUnsupported);
}

TEST_F(TaskTest, ScoreFunctionOfCrossEncoders) {
  prepare("rerank");
  replace_in_config("\"model_type\"",
                    R"("sentence_transformers":{"activation_fn":"torch.nn.modules.linear.Identity"},"model_type")");
  EXPECT_EQ(import().score_function, bundle::ScoreFunction::kNone);
  prepare("rerank");
  replace_in_config("\"model_type\"",
                    R"("sbert_ce_default_activation_function":"torch.nn.modules.activation.Tanh","model_type")");
  expect_refused("'torch.nn.modules.activation.Tanh' is not supported", ErrorKind::kUnsupported);
}

TEST_F(TaskTest, LabelsThatContradictEachOther) {
  prepare("classify");
  replace_in_config("\"1\": \"so so\"", "\"7\": \"so so\"");
  expect_refused("has 3 labels, but none for 1", ErrorKind::kCorrupt);
  prepare("classify");
  replace_in_config("\"so so\": 1", "\"so so\": 2");
  expect_refused("'label2id': says 2 for 'so so', id2label says 1", ErrorKind::kCorrupt);
  prepare("classify");
  replace_in_config("\"2\": \"good\"", "\"2\": \"good\", \"3\": \"best\"");
  expect_refused("tensor 'classifier.weight': config.json asks for shape [4, 16], found [3, 16]", ErrorKind::kCorrupt);
  prepare("classify");
  replace_in_config("\"model_type\"", "\"num_labels\":2,\"model_type\"");
  expect_refused("'num_labels': is 2, but id2label has 3 labels", ErrorKind::kCorrupt);
  prepare("classify");
  options_.overrides.task = bundle::Task::kRerank;
  expect_refused("a reranker gives one score", ErrorKind::kCorrupt);
}

/// The padded graph of a task as somebody's export, its config and tokenizer beside it.
class ExportedTaskTest : public TaskTest {
 protected:
  void prepare_export(const std::string& name) {
    prepare(name);
    options_.padded = true;
    options_.target = root_ + "/padded";
    import();
    fs::create_directories(root_ + "/export/onnx");
    for (const char* file : {"/model.onnx", "/model.weights"}) {
      fs::copy(options_.target + file, root_ + "/export/onnx" + file);
    }
    for (const char* file : {"/config.json", "/tokenizer.json"})
      fs::copy(root_ + "/source" + file, root_ + "/export" + file);
    options_.padded = false;
    options_.source = root_ + "/export";
    options_.target = root_ + "/bundle";
  }
};

TEST_F(ExportedTaskTest, LogitsAreWhatTheConfigSays) {
  for (const auto& [name, task] : {std::pair{"rerank", bundle::Task::kRerank},
                                   {"classify", bundle::Task::kClassify},
                                   {"multi_label", bundle::Task::kClassify},
                                   {"token_classify", bundle::Task::kTokenClassify}}) {
    prepare_export(name);
    const bundle::Manifest padded = bundle::load(root_ + "/padded").value().manifest;
    const bundle::Manifest manifest = import();
    EXPECT_EQ(manifest.family, "onnx") << name;
    EXPECT_EQ(manifest.task, task) << name;
    EXPECT_EQ(manifest.labels, padded.labels) << name;
    EXPECT_EQ(manifest.dimensions, padded.dimensions) << name;
    EXPECT_EQ(manifest.score_function, padded.score_function) << name;
    EXPECT_LE(difference(manifest), 1e-4) << name;
  }
}

TEST_F(ExportedTaskTest, WhatDoesNotFitIsRefused) {
  prepare_export("classify");
  options_.overrides.task = bundle::Task::kTokenClassify;
  expect_refused(
      "output 'logits' is float [?, 3], but for the task and the labels of config.json float [batch, sequence, 3]",
      ErrorKind::kUnsupported);
  options_.overrides.task = bundle::Task::kSparse;
  expect_refused("not taken for the task sparse", ErrorKind::kUnsupported);
  options_.overrides.task = bundle::Task::kEmbedding;
  expect_refused("found the outputs logits (float)", ErrorKind::kUnsupported);
  options_.overrides.task.reset();
  options_.precision = "int8";
  expect_refused("heads of labels are not recognized", ErrorKind::kUnsupported);
  options_.precision = "fp32";
  std::string config = read_file(options_.source + "/config.json", 1 << 20).value();
  config.replace(config.find("\"2\": \"good\""), 11, "\"2\": \"good\", \"3\": \"best\"");
  ASSERT_TRUE(write_file(options_.source + "/config.json", config).ok());
  expect_refused("float [batch, 4] is needed", ErrorKind::kUnsupported);
  fs::remove(options_.source + "/config.json");
  expect_refused("config.json: missing; it says what the numbers", ErrorKind::kNotFound);
}

TEST_F(ExportedTaskTest, AGraphWithoutLogitsIsNoReranker) {
  prepare_export("rerank");
  fs::copy(WEIR_TEST_DATA "/families/bert/model.safetensors", root_ + "/source/model.safetensors",
           fs::copy_options::overwrite_existing);
  fs::copy(WEIR_TEST_DATA "/families/bert/config.json", root_ + "/source/config.json",
           fs::copy_options::overwrite_existing);
  Options encoder = options_;
  encoder.source = root_ + "/source";
  encoder.target = root_ + "/encoder";
  encoder.padded = true;
  encoder.overrides.pooling = bundle::Pooling::kMean;
  encoder.overrides.normalize = true;
  ASSERT_TRUE(import_model(encoder).ok());
  for (const char* file : {"/model.onnx", "/model.weights"}) {
    fs::copy(encoder.target + file, root_ + "/export/onnx" + file, fs::copy_options::overwrite_existing);
  }
  options_.overrides.task = bundle::Task::kRerank;
  options_.rewrite = Rewrite::kNever;
  expect_refused("output 'last_hidden_state' is float [?, ?, 16]", ErrorKind::kUnsupported);
}

TEST_F(TaskTest, AgreementIsMeasuredAsTheTaskNeedsIt) {
  for (const auto& [name, measure] : {std::pair{"rerank", Measure::kConcordance},
                                      {"multi_label", Measure::kLabels},
                                      {"token_classify", Measure::kLabels},
                                      {"three_vectors", Measure::kCosine}}) {
    prepare(name);
    options_.precision = "bf16";
    options_.overrides.pooling = bundle::Pooling::kCls;
    options_.overrides.normalize = true;
    const auto summary = import_model(options_);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    ASSERT_TRUE(summary->agreement.has_value()) << name;
    EXPECT_EQ(summary->agreement->measure, measure) << name;
    EXPECT_TRUE(summary->agreement->good("int8")) << summary->agreement->text();
    EXPECT_NE(summary->manifest.lineage.steps.front().find(summary->agreement->text()), std::string::npos);
  }
}

TEST_F(TaskTest, WhatATaskDoesNotHave) {
  prepare("rerank");
  options_.precision = "fp32";
  options_.overrides.task = bundle::Task::kSparse;
  expect_refused("tensor 'cls.predictions.transform.dense.weight' is missing", ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace weir::importer
