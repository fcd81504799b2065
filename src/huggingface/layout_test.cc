#include "huggingface/layout.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"

namespace weir::huggingface {
namespace {

namespace fs = std::filesystem;

/// A copy of tiny-bert's small files, for a test to change.
class LayoutTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/weir_layout_" + info->name();
    fs::remove_all(folder_);
    fs::copy(WEIR_TEST_DATA "/tiny-bert", folder_, fs::copy_options::recursive);
    request_.folders = {folder_};
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(folder_ + "/" + name).parent_path());
    ASSERT_TRUE(write_file(folder_ + "/" + name, content).ok());
  }
  void remove(const std::string& name) { fs::remove_all(folder_ + "/" + name); }
  void expect_refused(const std::string& part, ErrorKind kind) {
    const auto layout = read_layout(request_);
    ASSERT_FALSE(layout.ok()) << part;
    EXPECT_NE(layout.error().message.find(part), std::string::npos) << layout.error().message;
    EXPECT_EQ(layout.error().kind, kind) << layout.error().message;
  }
  std::uint32_t max_tokens() {
    const auto layout = read_layout(request_);
    EXPECT_TRUE(layout.ok()) << layout.error().message;
    return layout.ok() ? layout->max_tokens : 0;
  }

  std::string folder_;
  LayoutRequest request_;
};

TEST_F(LayoutTest, SentenceTransformersFolder) {
  const auto layout = read_layout(request_);
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  EXPECT_EQ(layout->transformer_path, "");
  EXPECT_EQ(layout->pooling, bundle::Pooling::kMean);
  EXPECT_EQ(layout->pooling_dimensions, 32u);
  EXPECT_TRUE(layout->normalize);
  EXPECT_EQ(layout->max_tokens, 64u);
  EXPECT_EQ(layout->prompts, (std::map<std::string, std::string>{{"query", "query: "}}));
  EXPECT_FALSE(layout->default_prompt.has_value());
  EXPECT_EQ(layout->files.size(), 5u);
}

TEST_F(LayoutTest, NewModuleNamesAndFolderOfTheTransformer) {
  fs::create_directories(folder_ + "/0_Transformer");
  for (const char* name : {"config.json", "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json"}) {
    fs::rename(folder_ + "/" + name, folder_ + "/0_Transformer/" + name);
  }
  write("modules.json",
        R"([{"idx":0,"path":"0_Transformer","type":"sentence_transformers.base.modules.transformer.Transformer"},
    {"idx":1,"path":"1_Pooling","type":"sentence_transformers.sentence_transformer.modules.pooling.Pooling"}])");
  const auto layout = read_layout(request_);
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  EXPECT_EQ(layout->transformer_path, "0_Transformer");
  EXPECT_FALSE(layout->normalize);
  EXPECT_EQ(layout->max_tokens, 64u);
}

TEST_F(LayoutTest, PlainTransformersFolderAsksForFlags) {
  remove("modules.json");
  expect_refused("modules.json: missing; it says how token vectors become a text's: give --pooling",
                 ErrorKind::kNotFound);
  request_.overrides.pooling = bundle::Pooling::kCls;
  expect_refused("give --normalize or --no-normalize", ErrorKind::kNotFound);
  request_.overrides.normalize = false;
  const auto layout = read_layout(request_);
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  EXPECT_EQ(layout->pooling, bundle::Pooling::kCls);
  EXPECT_FALSE(layout->normalize);
}

TEST_F(LayoutTest, MissingPoolingConfigAsksForAFlag) {
  remove("1_Pooling");
  expect_refused("1_Pooling/config.json: missing", ErrorKind::kNotFound);
  request_.needs_pooling = false;
  EXPECT_TRUE(read_layout(request_).ok());
}

TEST_F(LayoutTest, MaxTokensFromTheTokenizerBoundedByPositions) {
  remove("sentence_bert_config.json");
  EXPECT_EQ(max_tokens(), 64u);  // 512 in tokenizer_config.json, 64 positions
  write("tokenizer_config.json", R"({"model_max_length":48})");
  EXPECT_EQ(max_tokens(), 48u);
  write("tokenizer_config.json", R"({"model_max_length":1000000000000000019884624838656})");
  EXPECT_EQ(max_tokens(), 64u);
  write("tokenizer_config.json", "{}");
  EXPECT_EQ(max_tokens(), 64u);
  remove("config.json");
  expect_refused("give --max-tokens", ErrorKind::kCorrupt);
  remove("tokenizer_config.json");
  expect_refused("tokenizer_config.json: missing", ErrorKind::kNotFound);
  request_.overrides.max_tokens = 40;
  EXPECT_EQ(max_tokens(), 40u);
}

TEST_F(LayoutTest, MaxTokensThatIsNullOrTooLarge) {
  write("sentence_bert_config.json", R"({"max_seq_length":null})");
  EXPECT_EQ(max_tokens(), 64u);
  write("sentence_bert_config.json", R"({"max_seq_length":65})");
  expect_refused("more than config.json's max_position_embeddings (64)", ErrorKind::kCorrupt);
  write("sentence_bert_config.json", R"({"max_seq_length":0})");
  expect_refused("max_seq_length", ErrorKind::kCorrupt);
  request_.overrides.max_tokens = 65;
  expect_refused("--max-tokens 65: the model takes from 1 to 64", ErrorKind::kInvalidArgument);
}

TEST_F(LayoutTest, DenseAfterPooling) {
  const std::string library = "sentence_transformers.models.";
  write("modules.json", R"([{"path":"","type":")" + library + R"(Transformer"},
    {"path":"1_Pooling","type":")" +
                            library + R"(Pooling"},{"path":"2_Dense","type":")" + library + R"(Dense"},
    {"path":"3_Dense","type":")" +
                            library + R"(Dense"}])");
  const auto layout = read_layout(request_);
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  EXPECT_EQ(layout->dense_paths, (std::vector<std::string>{"2_Dense", "3_Dense"}));
  EXPECT_TRUE(layout->has_pooling);
  EXPECT_FALSE(layout->late_interaction.has_value());
  EXPECT_FALSE(layout->normalize);
}

TEST_F(LayoutTest, OtherModulesAreRefusedByName) {
  const std::string transformer = R"({"path":"","type":"sentence_transformers.models.Transformer"})";
  const auto with = [&](const std::string& module) { write("modules.json", "[" + transformer + "," + module + "]"); };
  with(R"({"path":"2_LSTM","type":"sentence_transformers.models.LSTM"})");
  expect_refused("'sentence_transformers.models.LSTM' is not supported", ErrorKind::kUnsupported);
  with(R"({"path":"x","type":"pylate.models.Pooling"})");
  expect_refused("'pylate.models.Pooling' is not supported", ErrorKind::kUnsupported);
  with(R"({"path":"x","type":"custom_code.Pooling"})");
  expect_refused("'custom_code.Pooling' is not supported", ErrorKind::kUnsupported);
  with(R"({"path":"../x","type":"sentence_transformers.models.Pooling"})");
  expect_refused("leads out of the model's folder", ErrorKind::kCorrupt);
  with(R"({"path":"x"})");
  expect_refused("modules.json: field '[1].type': missing", ErrorKind::kCorrupt);
  with(transformer);
  expect_refused("twice or out of order", ErrorKind::kUnsupported);
  const std::string dense = R"({"path":"d","type":"sentence_transformers.models.Dense"})";
  with(dense + R"(,{"path":"p","type":"sentence_transformers.models.Pooling"})");
  expect_refused("'Pooling' stands there twice or out of order", ErrorKind::kUnsupported);
  with(R"({"path":"n","type":"sentence_transformers.models.Normalize"},)" + dense);
  expect_refused("'Dense' stands there twice or out of order", ErrorKind::kUnsupported);
  with(R"({"path":"p","type":"sentence_transformers.models.SpladePooling"},)" + dense);
  expect_refused("'Dense' stands there twice or out of order", ErrorKind::kUnsupported);
  with(R"({"path":"m","type":"sentence_transformers.multi_vector_encoder.modules.MultiVectorMask"})");
  expect_refused("a MultiVectorMask without a Dense", ErrorKind::kUnsupported);
  write("modules.json", R"([{"path":"p","type":"sentence_transformers.models.Pooling"}])");
  expect_refused("out of order", ErrorKind::kUnsupported);
  write("modules.json", "[]");
  expect_refused("no Transformer", ErrorKind::kUnsupported);
  write("modules.json", "[" + transformer + "]");
  expect_refused("Pooling: missing; give --pooling", ErrorKind::kNotFound);
}

TEST_F(LayoutTest, SettingsThatWouldChangeTheVectors) {
  write("sentence_bert_config.json", R"({"max_seq_length":64,"do_lower_case":true})");
  EXPECT_EQ(max_tokens(), 64u);  // tiny-bert's tokenizer lower-cases itself
  write("tokenizer.json", R"({"normalizer":null})");
  expect_refused("do_lower_case", ErrorKind::kUnsupported);
  write("sentence_bert_config.json", R"({"max_seq_length":64})");
  write("tokenizer_config.json", R"({"truncation_side":"left"})");
  expect_refused("truncation_side", ErrorKind::kUnsupported);
  write("tokenizer_config.json", "{}");
  write("2_Normalize/config.json", R"({"module_input_name":"token_embeddings"})");
  expect_refused("module_input_name", ErrorKind::kUnsupported);
}

TEST_F(LayoutTest, Prompts) {
  write("config_sentence_transformers.json", R"({"prompts":{"a":"A: "},"default_prompt_name":"a"})");
  EXPECT_EQ(read_layout(request_)->default_prompt, "a");
  write("config_sentence_transformers.json", R"({"prompts":{"a":"A: "},"default_prompt_name":"b"})");
  expect_refused("'b' is not one of prompts", ErrorKind::kCorrupt);
  write("config_sentence_transformers.json", R"({"prompts":{"a":1}})");
  expect_refused("prompts.a", ErrorKind::kCorrupt);
  remove("config_sentence_transformers.json");
  EXPECT_TRUE(read_layout(request_)->prompts.empty());
}

TEST_F(LayoutTest, FilesAreTakenFromTheFirstFolderThatHasThem) {
  fs::create_directories(folder_ + "/onnx");
  write("onnx/sentence_bert_config.json", R"({"max_seq_length":32})");
  request_.folders = {folder_ + "/onnx", folder_};
  const auto layout = read_layout(request_);
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  EXPECT_EQ(layout->max_tokens, 32u);
  EXPECT_EQ(layout->pooling, bundle::Pooling::kMean);
}

}  // namespace
}  // namespace weir::huggingface
