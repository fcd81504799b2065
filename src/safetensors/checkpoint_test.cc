#include "safetensors/checkpoint.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "safetensors/testing.h"

namespace weir::safetensors {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;
using testing::file_of;
using testing::TestTensor;

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/weir_checkpoint_" + info->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(write_file(folder_ + "/" + name, content).ok());
  }
  void write_index(const std::string& weight_map) {
    write("model.safetensors.index.json", R"({"metadata":{"total_size":8},"weight_map":)" + weight_map + "}");
  }
  std::string refusal() {
    const auto checkpoint = Checkpoint::open(folder_);
    return checkpoint.ok() ? "it was accepted" : checkpoint.error().message;
  }
  void expect_refused(const std::string& part) { EXPECT_NE(refusal().find(part), std::string::npos) << refusal(); }

  static TestTensor one(const std::string& name, float value) { return {name, "F32", {1}, bytes_of<float>({value})}; }

  std::string folder_;
};

TEST_F(CheckpointTest, SingleFile) {
  write("model.safetensors", file_of({one("a", 1), one("b", 2)}));
  const auto checkpoint = Checkpoint::open(folder_);
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ(checkpoint->find("b")->floats().value(), std::vector<float>{2});
  EXPECT_EQ(checkpoint->find("c"), nullptr);
  EXPECT_EQ(checkpoint->files(), std::vector<std::string>{"model.safetensors"});
}

TEST_F(CheckpointTest, Shards) {
  write("model-1.safetensors", file_of({one("a", 1)}));
  write("model-2.safetensors", file_of({one("b", 2), one("c", 3)}));
  write_index(R"({"a":"model-1.safetensors","b":"model-2.safetensors","c":"model-2.safetensors"})");
  const auto checkpoint = Checkpoint::open(folder_);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->find("a")->floats().value(), std::vector<float>{1});
  EXPECT_EQ(checkpoint->find("c")->floats().value(), std::vector<float>{3});
  EXPECT_EQ(checkpoint->files().size(), 3u);
}

TEST_F(CheckpointTest, NothingThere) {
  expect_refused("no model.safetensors and no model.safetensors.index.json");
  EXPECT_EQ(Checkpoint::open(folder_).error().kind, ErrorKind::kNotFound);
}

TEST_F(CheckpointTest, MissingShardIsNamed) {
  write("model-1.safetensors", file_of({one("a", 1)}));
  write_index(R"({"a":"model-1.safetensors","b":"model-2.safetensors"})");
  expect_refused("model-2.safetensors: missing");
  EXPECT_EQ(Checkpoint::open(folder_).error().kind, ErrorKind::kNotFound);
}

TEST_F(CheckpointTest, TensorInTheWrongShard) {
  write("model-1.safetensors", file_of({one("a", 1), one("b", 2)}));
  write("model-2.safetensors", file_of({one("c", 3)}));
  write_index(R"({"a":"model-1.safetensors","b":"model-2.safetensors","c":"model-2.safetensors"})");
  expect_refused("model-1.safetensors: tensor 'b' is here");
  write("model-1.safetensors", file_of({one("a", 1)}));
  expect_refused("model-2.safetensors: tensor 'b' is missing");
}

TEST_F(CheckpointTest, ShardOutsideTheFolder) {
  write("model.safetensors", file_of({one("a", 1)}));
  fs::rename(folder_ + "/model.safetensors", folder_ + "_outside.safetensors");
  for (const char* name :
       {"../x.safetensors", "/etc/passwd", "a/b.safetensors", "..", ".", "", "a\\\\b", "a\\u0000b"}) {
    write_index(std::string(R"({"a":")") + name + R"("})");
    expect_refused("own folder");
  }
  fs::remove(folder_ + "_outside.safetensors");
}

TEST_F(CheckpointTest, BrokenIndex) {
  write_index("[]");
  expect_refused("weight_map");
  write_index("{}");
  expect_refused("weight_map is empty");
  write_index(R"({"a":3})");
  expect_refused("'a' has no file name");
  write_index(R"({"a":"x.safetensors","a":"y.safetensors"})");
  expect_refused("'a' stands there twice");
  write("model.safetensors.index.json", "{");
  expect_refused("not valid JSON");
}

}  // namespace
}  // namespace weir::safetensors
