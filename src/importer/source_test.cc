#include "importer/source.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;

class SourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir() + "/weir_source_" + info->name()).lexically_normal().string();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void touch(const std::string& name) {
    fs::create_directories(fs::path(folder_ + "/" + name).parent_path());
    ASSERT_TRUE(write_file(folder_ + "/" + name, "x").ok());
  }
  std::string refusal(const std::string& path, ErrorKind kind) {
    const auto source = find_source(path);
    if (source.ok()) return "it was accepted";
    EXPECT_EQ(source.error().kind, kind);
    return source.error().message;
  }

  std::string folder_;
};

TEST_F(SourceTest, Checkpoints) {
  touch("model.safetensors");
  touch("model.onnx");
  const auto single = find_source(folder_);
  ASSERT_TRUE(single.ok());
  EXPECT_EQ(single->kind, Source::Kind::kCheckpoint);
  EXPECT_EQ(single->folders, std::vector<std::string>{folder_});
  fs::rename(folder_ + "/model.safetensors", folder_ + "/model.safetensors.index.json");
  EXPECT_EQ(find_source(folder_)->kind, Source::Kind::kCheckpoint);
  fs::remove(folder_ + "/model.safetensors.index.json");
  touch("0_Transformer/model.safetensors");
  EXPECT_EQ(find_source(folder_)->kind, Source::Kind::kOnnx);
  touch("modules.json");
  EXPECT_EQ(find_source(folder_)->kind, Source::Kind::kCheckpoint);
}

TEST_F(SourceTest, TorchFilesWhereThereIsNothingElse) {
  touch("pytorch_model.bin");
  EXPECT_EQ(find_source(folder_)->kind, Source::Kind::kCheckpoint);
  touch("onnx/model.onnx");
  EXPECT_EQ(find_source(folder_)->kind, Source::Kind::kOnnx);
  touch("onnx/model_quantized.onnx");
  EXPECT_EQ(find_source(folder_)->kind, Source::Kind::kCheckpoint) << "nobody said which of the ONNX files";
}

TEST_F(SourceTest, OnnxFilesAndTheirPlaces) {
  touch("onnx/model.onnx");
  touch("tokenizer.json");
  const auto below = find_source(folder_);
  ASSERT_TRUE(below.ok());
  EXPECT_EQ(below->kind, Source::Kind::kOnnx);
  EXPECT_EQ(below->folders, (std::vector<std::string>{folder_ + "/onnx", folder_}));
  EXPECT_EQ(below->root, folder_);
  EXPECT_EQ(find_source(folder_ + "/onnx/model.onnx")->onnx_path, folder_ + "/onnx/model.onnx");
  touch("onnx/model_quantized.onnx");
  const std::string message = refusal(folder_, ErrorKind::kInvalidArgument);
  EXPECT_NE(message.find("several ONNX files (model.onnx, model_quantized.onnx)"), std::string::npos) << message;
}

TEST_F(SourceTest, NothingUseful) {
  EXPECT_NE(refusal(folder_, ErrorKind::kNotFound).find("no model in it"), std::string::npos);
  EXPECT_NE(refusal(folder_ + "/none", ErrorKind::kNotFound).find("no such file or folder"), std::string::npos);
  touch("weights.bin");
  EXPECT_NE(refusal(folder_ + "/weights.bin", ErrorKind::kInvalidArgument).find("neither"), std::string::npos);
}

}  // namespace
}  // namespace weir::importer
