#include "hub/model_files.h"

#include <gtest/gtest.h>

namespace weir::hub {
namespace {

using Files = std::vector<std::string>;

TEST(ModelFilesTest, TakesWhatIsNeededOfASentenceTransformersModel) {
  const auto chosen = choose_files({".gitattributes",
                                    "1_Pooling/config.json",
                                    "README.md",
                                    "config.json",
                                    "config_sentence_transformers.json",
                                    "data_config.json",
                                    "model.safetensors",
                                    "modules.json",
                                    "onnx/model.onnx",
                                    "onnx/model_O4.onnx",
                                    "openvino/openvino_model.bin",
                                    "pytorch_model.bin",
                                    "rust_model.ot",
                                    "sentence_bert_config.json",
                                    "special_tokens_map.json",
                                    "tf_model.h5",
                                    "tokenizer.json",
                                    "tokenizer_config.json",
                                    "train_script.py",
                                    "vocab.txt"},
                                   "a/b");
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(*chosen, (Files{"1_Pooling/config.json", "config.json", "config_sentence_transformers.json", "modules.json",
                            "sentence_bert_config.json", "special_tokens_map.json", "tokenizer.json",
                            "tokenizer_config.json", "model.safetensors"}));
}

TEST(ModelFilesTest, TakesShardsWithTheirIndex) {
  const Files files = {"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                       "model.safetensors.index.json"};
  EXPECT_EQ(*choose_files(files, "a/b"),
            (Files{"config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors",
                   "model-00002-of-00002.safetensors"}));
  Files both = files;
  both.push_back("model.safetensors");
  EXPECT_EQ(*choose_files(both, "a/b"), (Files{"config.json", "model.safetensors"}));
}

TEST(ModelFilesTest, TakesOnnxWhereThereIsNothingElse) {
  EXPECT_EQ(*choose_files({"config.json", "onnx/model.onnx", "onnx/model.onnx_data", "onnx/model_fp16.onnx"}, "a/b"),
            (Files{"config.json", "onnx/model.onnx", "onnx/model.onnx_data"}));
  EXPECT_EQ(*choose_files({"2_Dense/model.safetensors", "model.onnx"}, "a/b"),
            (Files{"2_Dense/model.safetensors", "model.onnx"}));
  EXPECT_EQ(*choose_files({"0_Transformer/model.safetensors", "onnx/model.onnx"}, "a/b"),
            (Files{"0_Transformer/model.safetensors"}));
}

TEST(ModelFilesTest, TakesWhatColbertModelsAndDenseLayersHave) {
  EXPECT_EQ(*choose_files({"artifact.metadata", "config.json", "model.safetensors", "vocab.txt"}, "a/b"),
            (Files{"artifact.metadata", "config.json", "model.safetensors"}));
  EXPECT_EQ(*choose_files({"1_Dense/config.json", "1_Dense/model.safetensors", "1_Dense/pytorch_model.bin",
                           "2_Dense/config.json", "2_Dense/pytorch_model.bin", "2_MultiVectorMask/config.json",
                           "model.safetensors", "pytorch_model.bin"},
                          "a/b"),
            (Files{"1_Dense/config.json", "2_Dense/config.json", "2_MultiVectorMask/config.json",
                   "1_Dense/model.safetensors", "2_Dense/pytorch_model.bin", "model.safetensors"}));
}

TEST(ModelFilesTest, TakesTheHeadsOfSparseAndMultiVectorModels) {
  EXPECT_EQ(*choose_files({"colbert_linear.pt", "model.safetensors", "optimizer.pt", "sparse_linear.pt"}, "a/b"),
            (Files{"colbert_linear.pt", "sparse_linear.pt", "model.safetensors"}));
}

TEST(ModelFilesTest, TakesPyTorchsFormLast) {
  EXPECT_EQ(*choose_files({"2_Dense/pytorch_model.bin", "config.json", "pytorch_model.bin", "tf_model.h5"}, "a/b"),
            (Files{"config.json", "2_Dense/pytorch_model.bin", "pytorch_model.bin"}));
  EXPECT_EQ(*choose_files({"0_Transformer/pytorch_model.bin"}, "a/b"), (Files{"0_Transformer/pytorch_model.bin"}));
  EXPECT_EQ(*choose_files({"onnx/model.onnx", "pytorch_model.bin"}, "a/b"), (Files{"onnx/model.onnx"}));
  EXPECT_FALSE(choose_files({"pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"}, "a/b").ok());
}

TEST(ModelFilesTest, SaysWhatThereIsInstead) {
  const auto none = choose_files({"config.json", "tf_model.h5"}, "a/b");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(none.error().message.find("only tf_model.h5"), std::string::npos);
  EXPECT_FALSE(choose_files({}, "a/b").ok());
}

TEST(ModelFilesTest, LeavesUnsafePathsAlone) {
  for (const char* path : {"", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a\\b/c"}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
  EXPECT_FALSE(is_safe_path(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_safe_path("1_Pooling/config.json"));
  EXPECT_EQ(*choose_files({"../config.json", "model.safetensors"}, "a/b"), (Files{"model.safetensors"}));
}

}  // namespace
}  // namespace weir::hub
