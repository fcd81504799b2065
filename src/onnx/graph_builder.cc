#include "onnx/graph_builder.h"

#include <unordered_set>

#include "onnx/proto.h"

namespace weir::onnx {

struct GraphBuilder::Impl {
  ::onnx::ModelProto model;
  WeightsFile* weights = nullptr;
  std::unordered_set<std::string> names;
  Status status;

  ::onnx::GraphProto& graph() { return *model.mutable_graph(); }

  /// A name that stands twice is a mistake of a family's code; the graph would compute something else than was meant.
  void claim(const std::string& name) {
    if (!names.insert(name).second && status.ok()) {
      status = Error(ErrorKind::kInternal, "the graph has two values named '" + name + "'");
    }
  }

  ::onnx::TensorProto& initializer(const std::string& name, const std::vector<std::int64_t>& shape,
                                   ::onnx::TensorProto::DataType type, std::size_t values) {
    claim(name);
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    std::size_t elements = 1;
    for (const std::int64_t size : shape) {
      tensor.add_dims(size);
      elements *= static_cast<std::size_t>(size);
    }
    if (elements != values && status.ok()) {
      status = Error(ErrorKind::kInternal, "initializer '" + name + "' has " + std::to_string(values) +
                                               " values for a shape of " + std::to_string(elements));
    }
    return tensor;
  }
};

namespace {

void describe(::onnx::ValueInfoProto& value, const std::string& name, ElementType type,
              const std::vector<Dimension>& shape) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type == ElementType::kFloat ? ::onnx::TensorProto::FLOAT : ::onnx::TensorProto::INT64);
  for (const Dimension& dimension : shape) {
    auto& added = *tensor.mutable_shape()->add_dim();
    if (const auto* size = std::get_if<std::int64_t>(&dimension)) {
      added.set_dim_value(*size);
    } else {
      added.set_dim_param(std::get<std::string>(dimension));
    }
  }
}

void add_attribute(::onnx::NodeProto& node, const std::string& name, const AttributeValue& value) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    attribute.set_type(::onnx::AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    attribute.set_type(::onnx::AttributeProto::FLOAT);
    attribute.set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(::onnx::AttributeProto::STRING);
    attribute.set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    attribute.set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t item : *integers) attribute.add_ints(item);
  } else {
    attribute.set_type(::onnx::AttributeProto::FLOATS);
    for (const float item : std::get<std::vector<float>>(value)) attribute.add_floats(item);
  }
}

}  // namespace

GraphBuilder::GraphBuilder(std::string name, WeightsFile* weights) : impl_(std::make_unique<Impl>()) {
  impl_->weights = weights;
  impl_->model.set_ir_version(kIrVersion);
  impl_->model.set_producer_name("weir");
  auto& opset = *impl_->model.add_opset_import();
  opset.set_domain("");
  opset.set_version(kOpset);
  impl_->graph().set_name(std::move(name));
}

GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::input(const std::string& name, ElementType type, const std::vector<Dimension>& shape) {
  impl_->claim(name);
  describe(*impl_->graph().add_input(), name, type, shape);
}

void GraphBuilder::output(const std::string& name, ElementType type, const std::vector<Dimension>& shape) {
  describe(*impl_->graph().add_output(), name, type, shape);
}

std::string GraphBuilder::node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                               const Attributes& attributes) {
  impl_->claim(output);
  ::onnx::NodeProto& node = *impl_->graph().add_node();
  node.set_op_type(op);
  node.set_name(output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  for (const auto& [name, value] : attributes) add_attribute(node, name, value);
  return output;
}

void GraphBuilder::weir_node(const std::string& op, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs, const Attributes& attributes) {
  if (impl_->model.opset_import_size() == 1) {
    auto& opset = *impl_->model.add_opset_import();
    opset.set_domain(kWeirDomain);
    opset.set_version(kWeirOpset);
  }
  ::onnx::NodeProto& node = *impl_->graph().add_node();
  node.set_domain(kWeirDomain);
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) {
    if (!output.empty()) impl_->claim(output);
    if (!output.empty() && node.name().empty()) node.set_name(output);
    node.add_output(output);
  }
  for (const auto& [name, value] : attributes) add_attribute(node, name, value);
}

std::string GraphBuilder::weight(const std::string& name, const std::vector<std::int64_t>& shape,
                                 std::span<const float> values) {
  auto& tensor = impl_->initializer(name, shape, ::onnx::TensorProto::FLOAT, values.size());
  refer_to(tensor, impl_->weights->name(), impl_->weights->append(std::as_bytes(values)));
  return name;
}

std::string GraphBuilder::bytes(const std::string& name, std::span<const std::byte> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  auto& tensor = impl_->initializer(name, {size}, ::onnx::TensorProto::INT8, values.size());
  refer_to(tensor, impl_->weights->name(), impl_->weights->append(values));
  return name;
}

std::string GraphBuilder::int64_constant(const std::string& name, const std::vector<std::int64_t>& shape,
                                         std::span<const std::int64_t> values) {
  auto& tensor = impl_->initializer(name, shape, ::onnx::TensorProto::INT64, values.size());
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return name;
}

std::string GraphBuilder::float_constant(const std::string& name, float value) {
  impl_->initializer(name, {}, ::onnx::TensorProto::FLOAT, 1).add_float_data(value);
  return name;
}

Status GraphBuilder::save(const std::string& path) const {
  WEIR_RETURN_IF_ERROR(impl_->status);
  return save_model(impl_->model, path);
}

}  // namespace weir::onnx
