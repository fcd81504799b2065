#include "onnx/model.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "onnx/proto.h"

namespace weir::onnx {
namespace {

namespace fs = std::filesystem;

class ModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "/weir_model_" + info->name();
    fs::remove_all(root_);
    fs::create_directories(root_ + "/model");
    proto_.set_ir_version(8);
    proto_.add_opset_import()->set_version(17);
    auto* ml = proto_.add_opset_import();
    ml->set_domain("ai.onnx.ml");
    ml->set_version(3);
    auto& graph = *proto_.mutable_graph();
    graph.set_name("g");
    add_value(*graph.add_input(), "input_ids", ::onnx::TensorProto::INT64, {-1, -1});
    add_value(*graph.add_output(), "last_hidden_state", ::onnx::TensorProto::FLOAT, {-1, -1, 8});
    auto& node = *graph.add_node();
    node.set_op_type("Identity");
    node.add_input("input_ids");
    node.add_output("last_hidden_state");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void add_value(::onnx::ValueInfoProto& value, const std::string& name, int type, std::vector<int> shape) {
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    for (const int size : shape) {
      auto& dimension = *tensor.mutable_shape()->add_dim();
      if (size >= 0)
        dimension.set_dim_value(size);
      else
        dimension.set_dim_param("n");
    }
  }
  ::onnx::TensorProto& add_initializer(const std::string& name, std::int64_t elements) {
    auto& tensor = *proto_.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.add_dims(elements);
    return tensor;
  }
  static void make_external(::onnx::TensorProto& tensor, const std::string& location, const std::string& offset,
                            const std::string& length) {
    refer_to(tensor, location, {});
    tensor.mutable_external_data(1)->set_value(offset);
    tensor.mutable_external_data(2)->set_value(length);
  }
  std::string model_path() const { return root_ + "/model/model.onnx"; }
  Result<Model> write_and_read() {
    EXPECT_TRUE(write_file(model_path(), proto_.SerializeAsString()).ok());
    return Model::read(model_path());
  }
  /// The message of moving the weights, which must fail.
  std::string move_refusal(ErrorKind kind = ErrorKind::kCorrupt) {
    auto model = write_and_read();
    if (!model.ok()) return model.error().message;
    auto weights = WeightsFile::create(root_ + "/out.weights");
    const Status status = model->move_weights(*weights);
    if (status.ok()) return "it was accepted";
    EXPECT_EQ(status.error().kind, kind) << status.error().message;
    return status.error().message;
  }
  static void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  ::onnx::ModelProto proto_;
  std::string root_;
};

TEST_F(ModelTest, TellsInputsOutputsAndOperatorSets) {
  add_initializer("w", 1).add_float_data(1);
  add_value(*proto_.mutable_graph()->add_input(), "w", ::onnx::TensorProto::FLOAT, {1});
  const auto model = write_and_read();
  ASSERT_TRUE(model.ok()) << model.error().message;
  ASSERT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->inputs()[0].name, "input_ids");
  EXPECT_EQ(model->inputs()[0].type, "int64");
  EXPECT_EQ(model->outputs()[0].shape, (std::vector<std::int64_t>{-1, -1, 8}));
  EXPECT_TRUE(model->outputs()[0].has_shape);
  EXPECT_EQ(model->opsets()[1].first, "ai.onnx.ml");
  EXPECT_TRUE(model->external_files().value().empty());
}

TEST_F(ModelTest, NotAModel) {
  const auto refusal = [](const std::string& bytes) {
    const auto model = Model::parse(std::as_bytes(std::span(bytes)), "m.onnx", ".");
    return model.ok() ? std::string("it was accepted") : model.error().message;
  };
  expect_contains(refusal(""), "m.onnx: not an ONNX model");
  expect_contains(refusal("\xff\xff\xff\xff"), "not an ONNX model");
  expect_contains(refusal(::onnx::ModelProto().SerializeAsString() + std::string("\x08\x08", 2)), "without a graph");
  const std::string whole = proto_.SerializeAsString();
  expect_contains(refusal(whole.substr(0, whole.size() - 3)), "m.onnx");
  proto_.clear_opset_import();
  expect_contains(refusal(proto_.SerializeAsString()), "operator set");
  EXPECT_EQ(Model::read(root_ + "/none.onnx").error().kind, ErrorKind::kNotFound);
}

TEST_F(ModelTest, MovesInlineAndExternalWeights) {
  auto& inline_raw = add_initializer("raw", 256);
  inline_raw.set_raw_data(std::string(1024, 'r'));
  auto& inline_floats = add_initializer("floats", 300);
  for (int i = 0; i < 300; ++i) inline_floats.add_float_data(static_cast<float>(i));
  add_initializer("small", 1).add_float_data(7);
  make_external(add_initializer("external", 2), "data/w.bin", "4", "8");
  fs::create_directories(root_ + "/model/data");
  ASSERT_TRUE(write_file(root_ + "/model/data/w.bin", "....abcdefgh").ok());

  auto model = write_and_read();
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->external_files().value(), std::vector<std::string>{"data/w.bin"});
  auto weights = WeightsFile::create(root_ + "/out.weights");
  ASSERT_TRUE(weights.ok());
  const Status moved = model->move_weights(*weights);
  ASSERT_TRUE(moved.ok()) << moved.error().message;
  ASSERT_TRUE(weights->finish().ok());
  ASSERT_TRUE(model->save(root_ + "/out.onnx").ok());

  ::onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(read_file(root_ + "/out.onnx", 1 << 20).value()));
  const std::string bytes = read_file(root_ + "/out.weights", 1 << 20).value();
  const auto& initializers = written.graph().initializer();
  EXPECT_EQ(initializers[0].external_data(0).value(), "out.weights");
  EXPECT_EQ(initializers[0].raw_data().size(), 0u);
  EXPECT_EQ(bytes.substr(0, 1024), std::string(1024, 'r'));
  EXPECT_EQ(initializers[1].external_data(1).value(), "4096");
  EXPECT_EQ(initializers[1].float_data_size(), 0);
  EXPECT_EQ(initializers[2].data_location(), ::onnx::TensorProto::DEFAULT);
  EXPECT_EQ(bytes.substr(8192), "abcdefgh");
}

TEST_F(ModelTest, TensorsInBodiesOfNodesAreMovedToo) {
  auto& attribute = *proto_.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("then_branch");
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  auto& tensor = *attribute.mutable_g()->add_initializer();
  tensor.set_name("inner");
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  tensor.add_dims(1);
  make_external(tensor, "w.bin", "0", "4");
  ASSERT_TRUE(write_file(root_ + "/model/w.bin", "abcd").ok());
  auto model = write_and_read();
  ASSERT_TRUE(model.ok());
  auto weights = WeightsFile::create(root_ + "/out.weights");
  ASSERT_TRUE(model->move_weights(*weights).ok());
  EXPECT_EQ(model->external_files().value(), std::vector<std::string>{"out.weights"});
}

TEST_F(ModelTest, ExternalDataStaysInTheFolder) {
  ASSERT_TRUE(write_file(root_ + "/secret", "12345678").ok());
  auto& tensor = add_initializer("w", 2);
  for (const char* location : {"../secret", "/etc/passwd", "", "a/../../secret", "a/.."}) {
    make_external(tensor, location, "0", "8");
    expect_contains(move_refusal(), "tensor 'w'");
    expect_contains(move_refusal(), "not a file inside the model's folder");
  }
  fs::create_symlink(root_ + "/secret", root_ + "/model/link");
  make_external(tensor, "link", "0", "8");
  expect_contains(move_refusal(), "links out of the model's folder");
}

// Download caches keep the files elsewhere and links to all of them in the model's folder.
TEST_F(ModelTest, LinksToWhereTheGraphItselfLies) {
  make_external(add_initializer("w", 2), "w.bin", "0", "8");
  fs::create_directories(root_ + "/blobs");
  ASSERT_TRUE(write_file(root_ + "/blobs/1", proto_.SerializeAsString()).ok());
  ASSERT_TRUE(write_file(root_ + "/blobs/2", "12345678").ok());
  fs::create_symlink("../blobs/1", model_path());
  fs::create_symlink("../blobs/2", root_ + "/model/w.bin");
  auto model = Model::read(model_path());
  ASSERT_TRUE(model.ok());
  auto weights = WeightsFile::create(root_ + "/out.weights");
  const Status moved = model->move_weights(*weights);
  EXPECT_TRUE(moved.ok()) << moved.error().message;
}

TEST_F(ModelTest, ExternalDataMissingShortOrMalformed) {
  auto& tensor = add_initializer("w", 2);
  make_external(tensor, "w.bin", "0", "8");
  expect_contains(move_refusal(ErrorKind::kNotFound), "w.bin: missing");
  ASSERT_TRUE(write_file(root_ + "/model/w.bin", "1234567").ok());
  expect_contains(move_refusal(), "truncated");
  make_external(tensor, "w.bin", "18446744073709551615", "8");
  expect_contains(move_refusal(), "truncated");
  make_external(tensor, "w.bin", "-4", "8");
  expect_contains(move_refusal(), "external_data.offset is not a whole number");
  make_external(tensor, "w.bin", "0", "4");
  expect_contains(move_refusal(), "its shape needs 8 bytes");
  make_external(tensor, "w.bin", "0", "8");
  tensor.set_dims(0, -2);
  expect_contains(move_refusal(), "negative or too large");
  tensor.set_dims(0, std::int64_t{1} << 62);
  expect_contains(move_refusal(), "negative or too large");
  tensor.set_data_type(::onnx::TensorProto::STRING);
  expect_contains(move_refusal(ErrorKind::kUnsupported), "cannot lie in an external file");
}

TEST_F(ModelTest, InlineBytesThatContradictTheShape) {
  add_initializer("w", 300).set_raw_data(std::string(1024, 'x'));
  expect_contains(move_refusal(), "needs 1200 bytes, but it has 1024");
}

TEST_F(ModelTest, GraphInPlainTypes) {
  auto& half = add_initializer("half", 2);
  half.set_data_type(::onnx::TensorProto::FLOAT16);
  half.add_int32_data(0x3C00);
  half.add_int32_data(0xC000);
  add_initializer("short", 3).set_raw_data(std::string(8, 'x'));
  add_initializer("text", 1).set_data_type(::onnx::TensorProto::STRING);
  auto& node = *proto_.mutable_graph()->mutable_node(0);
  node.set_domain("ai.onnx");
  auto& axes = *node.add_attribute();
  axes.set_name("axes");
  axes.set_type(::onnx::AttributeProto::INTS);
  axes.add_ints(-1);
  const auto model = write_and_read();
  const Graph graph = model->graph();
  EXPECT_EQ(graph.opset, 17);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].domain, "");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(graph.nodes[0].attributes.at("axes")), std::vector<std::int64_t>{-1});
  ASSERT_TRUE(graph.initializers.contains("half"));
  EXPECT_EQ(graph.initializers.at("half").bytes.size(), 4u);
  EXPECT_EQ(graph.initializers.at("half").bytes[1], std::byte{0x3C});
  expect_contains(graph.unreadable.at("short"), "its shape needs 12 bytes, but it has 8");
  expect_contains(graph.unreadable.at("text"), "element type 8");
}

TEST_F(ModelTest, RoundingOfActivationsIsTakenOut) {
  auto& graph = *proto_.mutable_graph();
  add_initializer("scale", 1).add_float_data(1);
  add_initializer("weight", 1).add_float_data(1);
  graph.clear_node();
  const auto add_node = [&](const char* op, const char* input, const char* output) {
    auto& node = *graph.add_node();
    node.set_op_type(op);
    node.add_input(input);
    node.add_input("scale");
    node.add_output(output);
  };
  add_node("QuantizeLinear", "input_ids", "rounded");
  add_node("DequantizeLinear", "rounded", "restored");
  add_node("DequantizeLinear", "weight", "last_hidden_state");
  auto model = write_and_read();
  ASSERT_TRUE(model->drop_activation_rounding());
  const Graph changed = model->graph();
  EXPECT_EQ(changed.nodes[0].op, "Identity");
  EXPECT_EQ(changed.nodes[1].op, "Identity");
  EXPECT_EQ(changed.nodes[1].inputs, std::vector<std::string>{"rounded"});
  EXPECT_EQ(changed.nodes[2].op, "DequantizeLinear");
  EXPECT_TRUE(changed.initializers.contains("scale"));

  add_node("MatMulInteger", "rounded", "product");
  EXPECT_FALSE(write_and_read()->drop_activation_rounding()) << "something else takes the 8-bit numbers";
}

}  // namespace
}  // namespace weir::onnx
