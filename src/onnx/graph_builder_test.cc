#include "onnx/graph_builder.h"

#include <cstring>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "onnx/model.h"
#include "onnx/proto.h"

namespace weir::onnx {
namespace {

namespace fs = std::filesystem;

class GraphBuilderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/weir_graph_" + info->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(GraphBuilderTest, WritesWhatTheSchemaSays) {
  auto weights = WeightsFile::create(path("model.weights"));
  ASSERT_TRUE(weights.ok());
  GraphBuilder builder("test", &*weights);
  builder.input("x", ElementType::kFloat, {"batch", 3});
  builder.weight("w0", {1}, std::vector<float>{9});
  const std::string w = builder.weight("w", {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::string shape = builder.int64_constant("shape", {2}, std::vector<std::int64_t>{-1, 2});
  const std::string half = builder.float_constant("half", 0.5f);
  const std::string product = builder.node("Gemm", {"x", w}, "product", {{"alpha", 0.5f}, {"transB", std::int64_t{0}}});
  const std::string scaled = builder.node("Mul", {product, half}, "scaled");
  builder.node(
      "Reshape", {scaled, shape}, "y",
      {{"perm", std::vector<std::int64_t>{0, 1}}, {"text", std::string("tanh")}, {"f", std::vector<float>{1}}});
  builder.output("y", ElementType::kFloat, {"batch", 2});
  ASSERT_TRUE(builder.save(path("model.onnx")).ok());
  ASSERT_TRUE(weights->finish().ok());

  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read_file(path("model.onnx"), 1 << 20).value()));
  EXPECT_EQ(model.ir_version(), kIrVersion);
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), kOpset);
  ASSERT_EQ(model.graph().node_size(), 3);
  const auto& gemm = model.graph().node(0);
  EXPECT_EQ(gemm.op_type(), "Gemm");
  EXPECT_EQ(gemm.input(1), "w");
  EXPECT_EQ(gemm.output(0), "product");
  EXPECT_EQ(gemm.attribute(0).type(), ::onnx::AttributeProto::FLOAT);
  EXPECT_EQ(gemm.attribute(0).f(), 0.5f);
  const auto& reshape = model.graph().node(2);
  EXPECT_EQ(reshape.attribute(0).ints_size(), 2);
  EXPECT_EQ(reshape.attribute(1).s(), "tanh");
  EXPECT_EQ(reshape.attribute(2).floats(0), 1.0f);

  const auto& tensor = model.graph().initializer(1);
  EXPECT_EQ(tensor.name(), "w");
  EXPECT_EQ(tensor.data_location(), ::onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(tensor.external_data(0).value(), "model.weights");
  EXPECT_EQ(tensor.external_data(1).value(), "4096");
  EXPECT_EQ(tensor.external_data(2).value(), "24");
  const std::string bytes = read_file(path("model.weights"), 1 << 20).value();
  ASSERT_EQ(bytes.size(), 4096u + 24u);
  float last = 0;
  std::memcpy(&last, bytes.data() + 4096 + 20, sizeof last);
  EXPECT_EQ(last, 6.0f);

  const auto read = Model::read(path("model.onnx"));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->inputs().size(), 1u);
  EXPECT_EQ(read->inputs()[0].shape, (std::vector<std::int64_t>{-1, 3}));
  EXPECT_EQ(read->outputs()[0].type, "float");
  EXPECT_EQ(read->external_files().value(), std::vector<std::string>{"model.weights"});
}

TEST_F(GraphBuilderTest, NamesAreUniqueAndShapesFit) {
  auto weights = WeightsFile::create(path("model.weights"));
  ASSERT_TRUE(weights.ok());
  GraphBuilder twice("test", &*weights);
  twice.node("Relu", {"x"}, "y");
  twice.node("Relu", {"y"}, "y");
  const Status status = twice.save(path("model.onnx"));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("'y'"), std::string::npos);
  GraphBuilder wrong("test", &*weights);
  wrong.weight("w", {2}, std::vector<float>{1});
  EXPECT_FALSE(wrong.save(path("model.onnx")).ok());
  EXPECT_FALSE(fs::exists(path("model.onnx")));
}

}  // namespace
}  // namespace weir::onnx
