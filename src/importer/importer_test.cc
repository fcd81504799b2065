// tiny-bert in all its forms through import, held to what sentence-transformers computed with it.
#include "importer/importer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "importer/expected_vectors_for_test.h"
#include "importer/packing.h"
#include "safetensors/safetensors.h"
#include "safetensors/testing.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;
using safetensors::testing::TestTensor;

class ImporterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "/weir_importer_" + info->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
    fs::copy(WEIR_TEST_DATA "/tiny-bert", source(), fs::copy_options::recursive);
    options_.source = source();
    options_.target = root_ + "/bundle";
    options_.weir_version = "1.2.3";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string source() const { return root_ + "/source"; }
  std::string source(const std::string& name) const { return root_ + "/source/" + name; }
  void write(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(source(name)).parent_path());
    ASSERT_TRUE(write_file(source(name), content).ok());
  }
  void replace_in(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = read_file(source(name), 1 << 20).value();
    const auto position = text.find(from);
    ASSERT_NE(position, std::string::npos) << from;
    write(name, text.replace(position, from.size(), to));
  }

  /// The tensors of tiny-bert, each converted to the type whose value takes the upper `sizeof(Stored)` bytes.
  std::vector<TestTensor> tensors_as(const std::string& dtype) const {
    const auto file = safetensors::File::open(WEIR_TEST_DATA "/tiny-bert/model.safetensors");
    std::vector<TestTensor> tensors;
    for (const auto& [name, tensor] : file->tensors()) {
      std::vector<std::uint16_t> halves;
      const std::vector<float> values = tensor.floats().value();
      for (const float value : values) halves.push_back(half(value, dtype));
      const std::string whole(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      tensors.push_back({name, dtype, tensor.shape, dtype == "F32" ? whole : safetensors::testing::bytes_of(halves)});
    }
    return tensors;
  }

  /// tiny-bert's weights are multiples of 1/32 below 4: both forms hold them exactly, none is subnormal.
  static std::uint16_t half(float value, const std::string& dtype) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (dtype == "BF16" || value == 0) return static_cast<std::uint16_t>(bits >> 16);
    const std::uint32_t exponent = ((bits >> 23) & 0xFF) - 112;
    return static_cast<std::uint16_t>(((bits >> 16) & 0x8000) | (exponent << 10) | ((bits >> 13) & 0x3FF));
  }

  /// Largest difference between the bundle's vectors and those of expected.json.
  double difference_from_expected() {
    const auto loaded = bundle::load(options_.target);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return largest_difference(*loaded, WEIR_TEST_DATA "/tiny-bert/expected.json");
  }
  void expect_imported() {
    const auto summary = import_model(options_);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    EXPECT_LE(difference_from_expected(), 1e-4);
  }
  /// Fails with these words, and leaves nothing behind, in sight or hidden.
  void expect_refused(const std::string& part, ErrorKind kind) {
    const auto summary = import_model(options_);
    ASSERT_FALSE(summary.ok()) << "accepted, though: " << part;
    EXPECT_NE(summary.error().message.find(part), std::string::npos) << summary.error().message;
    EXPECT_EQ(summary.error().kind, kind) << summary.error().message;
    EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 1) << "something is left";
  }

  std::string root_;
  Options options_;
};

TEST_F(ImporterTest, VectorsAreThoseOfSentenceTransformers) {
  std::vector<std::string> steps;
  options_.progress = [&](const std::string& step) { steps.push_back(step); };
  const auto summary = import_model(options_);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_LE(difference_from_expected(), 1e-4);
  EXPECT_GE(steps.size(), 4u);

  const auto loaded = bundle::load(options_.target);
  const bundle::Manifest& manifest = loaded->manifest;
  EXPECT_EQ(manifest.name, "bundle");
  EXPECT_EQ(manifest.family, "bert");
  EXPECT_EQ(manifest.dimensions, 32u);
  EXPECT_EQ(manifest.max_tokens, 64u);
  EXPECT_EQ(manifest.pooling, bundle::Pooling::kMean);
  EXPECT_TRUE(manifest.normalize);
  EXPECT_EQ(manifest.prompts.at("query"), "query: ");
  EXPECT_EQ(manifest.lineage.weir_version, "1.2.3");
  std::map<std::string, std::uint64_t> sources;
  for (const auto& file : manifest.lineage.sources) sources[file.file] = file.bytes;
  EXPECT_EQ(sources.at("model.safetensors"), fs::file_size(source("model.safetensors")));
  EXPECT_TRUE(sources.contains("1_Pooling/config.json"));
  EXPECT_TRUE(sources.contains("tokenizer.json"));
  EXPECT_EQ(loaded->golden.size(), summary->golden_texts);
  EXPECT_EQ(read_file(loaded->tokenizer_path(), 1 << 20).value(), read_file(source("tokenizer.json"), 1 << 20).value());
}

TEST_F(ImporterTest, HalfPrecisionForms) {
  for (const char* dtype : {"F16", "BF16"}) {
    write("model.safetensors", safetensors::testing::file_of(tensors_as(dtype)));
    options_.replace = true;
    expect_imported();
  }
}

TEST_F(ImporterTest, Int8IsPackedAndAgreesWithFp32) {
  options_.precision = "int8";
  const auto summary = import_model(options_);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  ASSERT_TRUE(summary->agreement.has_value());
  EXPECT_GT(summary->agreement->mean_cosine, 0.99) << summary->agreement->text();
  EXPECT_LE(summary->agreement->least_cosine, summary->agreement->mean_cosine);
  EXPECT_GE(summary->agreement->texts, 30u);
  const auto loaded = bundle::load(options_.target);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->manifest.precision, "int8");
  EXPECT_EQ(loaded->manifest.layout, bundle::Layout::kPacked);
  EXPECT_EQ(loaded->manifest.output, bundle::Output::kTextVectors);
  EXPECT_EQ(loaded->manifest.vocabulary_size, 285u);
  EXPECT_NE(loaded->manifest.lineage.steps.front().find("int8, packed; cosine to fp32"), std::string::npos);
  EXPECT_FALSE(fs::exists(options_.target + "/packed")) << "what was compared is cleared away";
}

TEST_F(ImporterTest, EveryPrecisionIsPacked) {
  for (const auto& [precision, least] : {std::pair{"fp32", 0.99999}, {"bf16", 0.999}, {"int8", 0.99}}) {
    options_.precision = precision;
    options_.replace = true;
    const auto summary = import_model(options_);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    EXPECT_EQ(summary->manifest.precision, precision) << summary->precision_reason;
    EXPECT_EQ(summary->manifest.layout, bundle::Layout::kPacked) << summary->precision_reason;
    ASSERT_TRUE(summary->agreement.has_value());
    EXPECT_GT(summary->agreement->least_cosine, least) << precision;
  }
}

TEST_F(ImporterTest, AttentionAsOrderedIsWrittenDown) {
  for (const auto& [precision, attention, step] :
       {std::tuple{"int8", "bf16", "int8, packed, attention in bf16; cosine"},
        {"int8", "fp32", "int8, packed, attention in fp32; cosine"},
        {"bf16", "int8", "bf16, packed, attention in int8; cosine"},
        {"int8", "int8", "int8, packed; cosine"},
        {"int8", "auto", "int8, packed; cosine"}}) {
    options_.precision = precision;
    options_.attention = attention;
    options_.replace = true;
    const auto summary = import_model(options_);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    EXPECT_GT(summary->agreement->mean_cosine, 0.99) << summary->agreement->text();
    EXPECT_NE(summary->manifest.lineage.steps.front().find(step), std::string::npos)
        << summary->manifest.lineage.steps.front();
  }
  fs::remove_all(options_.target);
  options_.attention = "bf16";
  options_.precision = "fp32";
  expect_refused("--attention: bf16 goes with --precision bf16, int8 or auto", ErrorKind::kInvalidArgument);
  options_.padded = true;
  expect_refused("--attention: padded graphs are in fp32", ErrorKind::kInvalidArgument);
  options_.attention = "fp16";
  expect_refused("--attention: 'fp16' is none of auto, fp32, bf16 and int8", ErrorKind::kInvalidArgument);
}

TEST_F(ImporterTest, PaddedIsTheGraphOfStandardOperators) {
  options_.padded = true;
  const auto summary = import_model(options_);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->manifest.layout, bundle::Layout::kPadded);
  EXPECT_EQ(summary->manifest.output, bundle::Output::kTokenVectors);
  EXPECT_FALSE(summary->agreement.has_value());
  fs::remove_all(options_.target);
  options_.precision = "int8";
  expect_refused("--padded: padded graphs are in fp32", ErrorKind::kInvalidArgument);
}

TEST_F(ImporterTest, AutoTakesInt8WhereTheCpuHasItAndItAgrees) {
  options_.precision = "auto";
  const auto summary = import_model(options_);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_FALSE(summary->precision_reason.empty());
  const auto against = reason_against("int8");
  ASSERT_TRUE(against.ok());
  if (against->empty()) {
    EXPECT_NE(summary->precision_reason.find("int8"), std::string::npos) << summary->precision_reason;
  } else {
    EXPECT_NE(summary->manifest.precision, "int8") << summary->precision_reason;
  }
  if (summary->manifest.precision == "fp32") {
    EXPECT_LE(difference_from_expected(), 1e-4) << "fp32 is what is left";
  }
}

TEST_F(ImporterTest, PrecisionsThatAreNotThereAreRefused) {
  options_.precision = "int4";
  expect_refused("--precision: 'int4' is none of", ErrorKind::kInvalidArgument);
}

TEST(Agreement, IsAskedOfEachPrecision) {
  const auto cosines = [](double mean, double least) {
    Agreement agreement;
    agreement.mean_cosine = mean;
    agreement.least_cosine = least;
    return agreement;
  };
  EXPECT_TRUE(cosines(0.998, 0.99).good("int8"));
  EXPECT_FALSE(cosines(0.998, 0.984).good("int8"));
  EXPECT_FALSE(cosines(0.998, 0.99).good("bf16"));
  EXPECT_TRUE(cosines(0.99995, 0.9999).good("bf16"));
  EXPECT_FALSE(cosines(0.99995, 0.9999).good("fp32"));
  EXPECT_EQ(Agreement().asked("int8"), "a cosine of 0.997 on average and 0.985 at least");
}

TEST(Agreement, OfScoresAndLabels) {
  Agreement scores;
  scores.measure = measure_of(bundle::Task::kRerank);
  scores.concordance = 0.995;
  EXPECT_TRUE(scores.good("int8"));
  EXPECT_FALSE(scores.good("bf16"));
  EXPECT_EQ(scores.asked("bf16"), "a concordance of 0.9995");
  Agreement labels;
  labels.measure = measure_of(bundle::Task::kTokenClassify);
  labels.same_label = 0.96;
  labels.mean_difference = 0.01;
  EXPECT_TRUE(labels.good("int8"));
  labels.mean_difference = 0.03;
  EXPECT_FALSE(labels.good("int8"));
  labels.mean_difference = 0;
  EXPECT_FALSE(labels.good("fp32"));
  EXPECT_EQ(labels.asked("int8"), "95 % same labels and 0.02 between probabilities");
}

TEST_F(ImporterTest, ShardedForm) {
  std::vector<TestTensor> tensors = tensors_as("F32");
  const std::vector<TestTensor> first(tensors.begin(), tensors.begin() + 10);
  const std::vector<TestTensor> second(tensors.begin() + 10, tensors.end());
  std::string map;
  for (const auto& [shard, part] :
       {std::pair{"model-00001-of-00002.safetensors", first}, {"model-00002-of-00002.safetensors", second}}) {
    write(shard, safetensors::testing::file_of(part));
    for (const TestTensor& tensor : part) map += (map.empty() ? "\"" : ",\"") + tensor.name + "\":\"" + shard + "\"";
  }
  write("model.safetensors.index.json", R"({"metadata":{},"weight_map":{)" + map + "}}");
  fs::remove(source("model.safetensors"));
  expect_imported();
  fs::remove_all(options_.target);
  fs::remove(source("model-00002-of-00002.safetensors"));
  expect_refused("model-00002-of-00002.safetensors: missing", ErrorKind::kNotFound);
}

TEST_F(ImporterTest, OlderNamesOfTensors) {
  std::vector<TestTensor> tensors = tensors_as("F32");
  for (TestTensor& tensor : tensors) {
    tensor.name = "bert." + tensor.name;
    const auto norm = tensor.name.find("LayerNorm.");
    if (norm == std::string::npos) continue;
    tensor.name = tensor.name.substr(0, norm) + "LayerNorm." + (tensor.name.ends_with("weight") ? "gamma" : "beta");
  }
  write("model.safetensors", safetensors::testing::file_of(tensors));
  expect_imported();
}

TEST_F(ImporterTest, TheFolderThatOneStandsInIsNotReplaced) {
  const fs::path before = fs::current_path();
  fs::create_directories(source("empty/below"));
  fs::current_path(source("empty/below"));
  for (const std::string& target : {std::string("."), source("empty"), source("empty/below/"), std::string("..")}) {
    options_.target = target;
    const auto summary = import_model(options_);
    ASSERT_FALSE(summary.ok()) << target;
    EXPECT_EQ(summary.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(summary.error().message.find("the current folder is in it"), std::string::npos)
        << summary.error().message;
  }
  options_.target = "model";
  EXPECT_TRUE(import_model(options_).ok());
  EXPECT_TRUE(fs::exists(source("empty/below/model/weir.json")));
  fs::current_path(before);
}

TEST_F(ImporterTest, WeightsOfPyTorchsOwnForm) {
  fs::remove(source("model.safetensors"));
  fs::copy(WEIR_TEST_DATA "/torch/pytorch_model.bin", source("pytorch_model.bin"));
  expect_imported();
  const auto loaded = bundle::load(options_.target);
  const auto& sources = loaded->manifest.lineage.sources;
  EXPECT_TRUE(
      std::any_of(sources.begin(), sources.end(), [](const auto& one) { return one.file == "pytorch_model.bin"; }));
  fs::remove_all(options_.target);
  fs::resize_file(source("pytorch_model.bin"), 1000);
  expect_refused("pytorch_model.bin: not a whole zip archive", ErrorKind::kCorrupt);
}

TEST_F(ImporterTest, OnnxFileInItsFolderBelow) {
  options_.padded = true;
  ASSERT_TRUE(import_model(options_).ok());
  fs::create_directories(source("onnx"));
  fs::rename(options_.target + "/model.onnx", source("onnx/model.onnx"));
  fs::rename(options_.target + "/model.weights", source("onnx/model.weights"));
  fs::remove_all(options_.target);
  fs::remove(source("model.safetensors"));
  options_.rewrite = Rewrite::kNever;
  expect_imported();
  const auto loaded = bundle::load(options_.target);
  EXPECT_EQ(loaded->manifest.family, "onnx");
  EXPECT_EQ(loaded->manifest.max_tokens, 64u);
  EXPECT_EQ(loaded->manifest.lineage.sources.back().file, "tokenizer.json");
  options_.source = source("onnx/model.onnx");
  options_.replace = true;
  expect_imported();
}

TEST_F(ImporterTest, OnnxFileWithOtherInputs) {
  fs::copy(WEIR_TEST_DATA "/onnx/int32.onnx", source("model.onnx"));
  options_.source = source("model.onnx");
  expect_refused("found the inputs input_ids (int32)", ErrorKind::kUnsupported);
}

TEST_F(ImporterTest, OnnxFileThatHasPooledAlready) {
  fs::copy(WEIR_TEST_DATA "/onnx/pooled.onnx", source("model.onnx"));
  options_.source = source("model.onnx");
  fs::remove(source("modules.json"));
  fs::remove(source("config.json"));
  expect_refused("give --normalize or --no-normalize", ErrorKind::kNotFound);
}

TEST_F(ImporterTest, TruncatedSafetensors) {
  fs::resize_file(source("model.safetensors"), fs::file_size(source("model.safetensors")) - 1);
  expect_refused("truncated", ErrorKind::kCorrupt);
  fs::resize_file(source("model.safetensors"), 100);
  expect_refused("model.safetensors: the header", ErrorKind::kCorrupt);
}

TEST_F(ImporterTest, ConfigThatDisagreesWithTheWeights) {
  replace_in("config.json", "\"hidden_size\": 32", "\"hidden_size\": 64");
  replace_in("1_Pooling/config.json", "32", "64");
  expect_refused("asks for shape [285, 64], found [285, 32]", ErrorKind::kCorrupt);
}

TEST_F(ImporterTest, PoolingOfAnotherSize) {
  replace_in("1_Pooling/config.json", "32", "48");
  expect_refused("embedding dimension is 48, but config.json's hidden_size is 32", ErrorKind::kCorrupt);
}

TEST_F(ImporterTest, WeightsThatAreNotFinite) {
  std::vector<TestTensor> tensors = tensors_as("F32");
  const float bad = NAN;
  std::memcpy(tensors[3].bytes.data() + 4, &bad, sizeof bad);
  write("model.safetensors", safetensors::testing::file_of(tensors));
  expect_refused("tensor '" + tensors[3].name + "': holds NaN at element 1", ErrorKind::kCorrupt);
}

TEST_F(ImporterTest, TokenizerMissingBrokenOrOfAnotherModel) {
  const std::string tokenizer = read_file(source("tokenizer.json"), 1 << 20).value();
  fs::remove(source("tokenizer.json"));
  expect_refused("tokenizer.json: missing", ErrorKind::kNotFound);
  write("tokenizer.json", tokenizer.substr(0, 200));
  expect_refused("tokenizer.json", ErrorKind::kCorrupt);
  write("tokenizer.json", tokenizer);
  replace_in("tokenizer.json", "\"vocab\":{", "\"vocab\":{\"foreign\":285,");
  expect_refused("has ids up to 285, but config.json's vocab_size is 285", ErrorKind::kCorrupt);
  write("tokenizer.json", tokenizer);
  write("tokenizer.json", tokenizer.substr(0, tokenizer.find(",\"vocab\":")) + "}}");
  expect_refused("model.vocab", ErrorKind::kCorrupt);
}

TEST_F(ImporterTest, MissingFilesAskForFlags) {
  fs::remove(source("modules.json"));
  expect_refused("give --pooling", ErrorKind::kNotFound);
  options_.overrides.pooling = bundle::Pooling::kCls;
  options_.overrides.normalize = false;
  options_.overrides.max_tokens = 16;
  options_.name = "named";
  const auto summary = import_model(options_);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->manifest.pooling, bundle::Pooling::kCls);
  EXPECT_FALSE(summary->manifest.normalize);
  EXPECT_EQ(summary->manifest.max_tokens, 16u);
  EXPECT_EQ(summary->manifest.name, "named");
}

TEST_F(ImporterTest, MaxTokensWithoutRoomForText) {
  options_.overrides.max_tokens = 2;
  expect_refused("give --max-tokens", ErrorKind::kInvalidArgument);
}

TEST_F(ImporterTest, TargetThatExists) {
  ASSERT_TRUE(import_model(options_).ok());
  auto again = import_model(options_);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("--force"), std::string::npos) << again.error().message;
  options_.replace = true;
  EXPECT_TRUE(import_model(options_).ok());
  fs::remove(options_.target + "/weir.json");
  again = import_model(options_);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("is no bundle"), std::string::npos) << again.error().message;
  EXPECT_TRUE(fs::exists(options_.target + "/model.onnx"));
}

// A failed replacement leaves the old bundle as it was.
TEST_F(ImporterTest, FailedReplacementKeepsTheOldBundle) {
  ASSERT_TRUE(import_model(options_).ok());
  options_.replace = true;
  fs::resize_file(source("model.safetensors"), 100);
  EXPECT_FALSE(import_model(options_).ok());
  EXPECT_LE(difference_from_expected(), 1e-4);
}

TEST_F(ImporterTest, Interrupted) {
  // Whenever it comes: between steps, between tensors, between golden texts.
  int asked = 0;
  options_.cancelled = [&] { return ++asked < 0; };
  ASSERT_TRUE(import_model(options_).ok());
  fs::remove_all(options_.target);
  const int last = asked;
  for (int stop = 1; stop <= last; stop += 7) {
    asked = 0;
    options_.cancelled = [&] { return ++asked >= stop; };
    expect_refused("interrupted", ErrorKind::kCancelled);
  }
}

// A full disk is a write that fails; a limit on file sizes gives one on any machine.
TEST_F(ImporterTest, FullDisk) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t limit : {1000, 50'000, 150'000}) {
    rlimit small = before;
    small.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &small);
    expect_refused("cannot be written", ErrorKind::kIo);
    setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, old_handler);
}

TEST_F(ImporterTest, ReadOnlyParent) {
  if (geteuid() == 0) {
    // Root may write anywhere but where nobody can.
    options_.target = "/proc/bundle";
    expect_refused("/proc", ErrorKind::kIo);
    return;
  }
  fs::create_directories(root_ + "/source/closed");
  chmod(source("closed").c_str(), 0555);
  options_.target = source("closed/bundle");
  expect_refused("closed", ErrorKind::kIo);
  chmod(source("closed").c_str(), 0755);
}

}  // namespace
}  // namespace weir::importer
