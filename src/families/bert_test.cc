#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "families/family.h"
#include "onnx/model.h"
#include "safetensors/testing.h"

namespace weir::families {
namespace {

namespace fs = std::filesystem;
using safetensors::testing::TestTensor;

using Fields = std::map<std::string, std::string>;

Fields small_fields() {
  return {{"model_type", "\"bert\""},       {"hidden_size", "8"},       {"num_hidden_layers", "1"},
          {"num_attention_heads", "2"},     {"intermediate_size", "4"}, {"vocab_size", "10"},
          {"max_position_embeddings", "6"}, {"type_vocab_size", "2"},   {"layer_norm_eps", "1e-12"},
          {"hidden_act", "\"gelu\""}};
}

huggingface::JsonObject config_of(const Fields& fields) {
  std::string json;
  for (const auto& [key, value] : fields) json += (json.empty() ? "{\"" : ",\"") + key + "\":" + value;
  return huggingface::JsonObject::parse(json + "}", "config.json").value();
}

TestTensor zeros(const std::string& name, std::vector<std::uint64_t> shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) count *= size;
  return {name, "F32", std::move(shape), std::string(count * 4, '\0')};
}

/// The tensors of small_fields() with `prefix`, LayerNorms spelt with `scale` and `bias`.
std::vector<TestTensor> small_tensors(const std::string& prefix = "", const std::string& scale = "weight",
                                      const std::string& bias = "bias", bool with_types = true) {
  std::vector<TestTensor> tensors = {zeros(prefix + "embeddings.word_embeddings.weight", {10, 8}),
                                     zeros(prefix + "embeddings.position_embeddings.weight", {6, 8})};
  if (with_types) tensors.push_back(zeros(prefix + "embeddings.token_type_embeddings.weight", {2, 8}));
  const std::string layer = prefix + "encoder.layer.0.";
  for (const std::string& name :
       {prefix + "embeddings.LayerNorm.", layer + "attention.output.LayerNorm.", layer + "output.LayerNorm."}) {
    tensors.push_back(zeros(name + scale, {8}));
    tensors.push_back(zeros(name + bias, {8}));
  }
  const auto linear = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    tensors.push_back(zeros(layer + name + ".weight", {rows, columns}));
    tensors.push_back(zeros(layer + name + ".bias", {rows}));
  };
  for (const char* part : {"query", "key", "value"}) linear(std::string("attention.self.") + part, 8, 8);
  linear("attention.output.dense", 8, 8);
  linear("intermediate.dense", 4, 8);
  linear("output.dense", 8, 4);
  return tensors;
}

class BertTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/weir_bert_" + info->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Status build(const Fields& fields, const std::vector<TestTensor>& tensors) {
    EXPECT_TRUE(write_file(folder_ + "/model.safetensors", safetensors::testing::file_of(tensors)).ok());
    WEIR_ASSIGN_OR_RETURN(const auto architecture, read_architecture(config_of(fields)));
    WEIR_ASSIGN_OR_RETURN(const auto checkpoint, safetensors::Checkpoint::open(folder_));
    WEIR_ASSIGN_OR_RETURN(onnx::WeightsFile file, onnx::WeightsFile::create(folder_ + "/model.weights"));
    Weights weights(checkpoint);
    onnx::GraphBuilder graph("test", &file);
    WEIR_RETURN_IF_ERROR(architecture.build(weights, graph));
    WEIR_RETURN_IF_ERROR(file.finish());
    return graph.save(folder_ + "/model.onnx");
  }
  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    const auto model = onnx::Model::read(folder_ + "/model.onnx");
    EXPECT_TRUE(model.ok());
    for (const auto& input : model->inputs()) names.push_back(input.name);
    return names;
  }
  static void expect_refused(const Status& status, const std::string& part, ErrorKind kind = ErrorKind::kCorrupt) {
    ASSERT_FALSE(status.ok()) << part;
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
    EXPECT_EQ(status.error().kind, kind) << status.error().message;
  }

  std::string folder_;
};

TEST_F(BertTest, Facts) {
  const auto architecture = read_architecture(config_of(small_fields()));
  ASSERT_TRUE(architecture.ok()) << architecture.error().message;
  const Facts& facts = architecture->facts();
  EXPECT_EQ(facts.family, "bert");
  EXPECT_EQ(facts.hidden_size, 8u);
  EXPECT_EQ(facts.vocabulary_size, 10u);
  EXPECT_EQ(facts.max_positions, 6u);
  EXPECT_EQ(facts.pad_token_id, 0u);
  EXPECT_TRUE(facts.has_token_type_ids);
}

TEST_F(BertTest, ConfigsRefusedByFieldAndValue) {
  const auto expect = [](const std::string& key, const std::string& value, const std::string& part, ErrorKind kind) {
    Fields fields = small_fields();
    fields[key] = value;
    const auto architecture = read_architecture(config_of(fields));
    ASSERT_FALSE(architecture.ok()) << key;
    const std::string& message = architecture.error().message;
    EXPECT_NE(message.find("config.json: field '" + key + "'"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(architecture.error().kind, kind) << message;
  };
  expect("model_type", "\"gpt2\"", "'gpt2' is not supported; the nearest that is: gte", ErrorKind::kUnsupported);
  expect("model_type", "null", "missing", ErrorKind::kCorrupt);
  expect("position_embedding_type", "\"relative_key\"", "'relative_key'", ErrorKind::kUnsupported);
  expect("hidden_act", "\"gelu_10\"", "'gelu_10' is not supported", ErrorKind::kUnsupported);
  expect("is_decoder", "true", "not supported", ErrorKind::kUnsupported);
  expect("add_cross_attention", "true", "not supported", ErrorKind::kUnsupported);
  expect("quantization_config", "{}", "quantized", ErrorKind::kUnsupported);
  expect("num_attention_heads", "3", "3 does not divide hidden_size (8)", ErrorKind::kCorrupt);
  expect("hidden_size", "0", "must not be 0", ErrorKind::kCorrupt);
  expect("hidden_size", "\"8\"", "expected a number", ErrorKind::kCorrupt);
  expect("layer_norm_eps", "-1", "from 0 to 1", ErrorKind::kCorrupt);
  expect("vocab_size", "null", "missing", ErrorKind::kCorrupt);
  expect("pad_token_id", "10", "outside vocab_size", ErrorKind::kCorrupt);
}

TEST_F(BertTest, SpellingsOfTensorNames) {
  EXPECT_TRUE(build(small_fields(), small_tensors()).ok());
  EXPECT_EQ(input_names(), (std::vector<std::string>{"input_ids", "attention_mask", "token_type_ids"}));
  EXPECT_TRUE(build(small_fields(), small_tensors("bert.")).ok());
  EXPECT_TRUE(build(small_fields(), small_tensors("bert.", "gamma", "beta")).ok());
}

TEST_F(BertTest, WithoutTokenTypes) {
  Fields fields = small_fields();
  fields["type_vocab_size"] = "0";
  const Status status = build(fields, small_tensors("", "weight", "bias", false));
  EXPECT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(input_names(), (std::vector<std::string>{"input_ids", "attention_mask"}));
}

TEST_F(BertTest, HeadsOnTopAreIgnored) {
  std::vector<TestTensor> tensors = small_tensors("bert.");
  tensors.push_back(zeros("bert.pooler.dense.weight", {8, 8}));
  tensors.push_back(zeros("cls.predictions.bias", {10}));
  tensors.push_back({"bert.embeddings.position_ids", "I64", {1}, std::string(8, '\0')});
  const Status status = build(small_fields(), tensors);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST_F(BertTest, ConfigThatDisagreesWithTheWeights) {
  Fields fields = small_fields();
  fields["vocab_size"] = "11";
  expect_refused(build(fields, small_tensors()),
                 "tensor 'embeddings.word_embeddings.weight': config.json asks for shape [11, 8], found [10, 8]");
  fields = small_fields();
  fields["intermediate_size"] = "5";
  expect_refused(build(fields, small_tensors()), "tensor 'encoder.layer.0.intermediate.dense.weight'");
  fields = small_fields();
  fields["num_hidden_layers"] = "2";
  expect_refused(build(fields, small_tensors()), "tensor 'encoder.layer.1.attention.self.query.weight' is missing");
  std::vector<TestTensor> tensors = small_tensors();
  tensors.push_back(zeros("encoder.layer.1.output.dense.bias", {8}));
  expect_refused(build(small_fields(), tensors), "tensor 'encoder.layer.1.output.dense.bias' is in the checkpoint");
}

}  // namespace
}  // namespace weir::families
