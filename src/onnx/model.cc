#include "onnx/model.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnx/proto.h"
#include "onnx/read_graph.h"

namespace weir::onnx {
namespace {

/// Smaller initializers are shapes, axes and scalars, which ONNX Runtime wants to see in the graph.
constexpr std::uint64_t kMinExternalBytes = 1024;
/// How deep If and Loop bodies may nest.
constexpr int kMaxGraphDepth = 16;

std::string type_name(std::int32_t type) {
  switch (type) {
    case ::onnx::TensorProto::FLOAT:
      return "float";
    case ::onnx::TensorProto::FLOAT16:
      return "float16";
    case ::onnx::TensorProto::BFLOAT16:
      return "bfloat16";
    case ::onnx::TensorProto::DOUBLE:
      return "double";
    case ::onnx::TensorProto::INT64:
      return "int64";
    case ::onnx::TensorProto::INT32:
      return "int32";
    case ::onnx::TensorProto::BOOL:
      return "bool";
    case ::onnx::TensorProto::STRING:
      return "string";
    default:
      return "type " + std::to_string(type);
  }
}

ValueInfo describe(const ::onnx::ValueInfoProto& value) {
  ValueInfo info;
  info.name = value.name();
  if (!value.type().has_tensor_type()) return info;
  const auto& tensor = value.type().tensor_type();
  info.type = type_name(tensor.elem_type());
  info.has_shape = tensor.has_shape();
  for (const auto& dimension : tensor.shape().dim()) {
    info.shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : -1);
  }
  return info;
}

/// Calls `visit(tensor, is_initializer)` for every tensor of a graph, those in the bodies of its nodes included.
class TensorVisitor {
 public:
  using Visit = std::function<Status(::onnx::TensorProto&, bool)>;
  TensorVisitor(std::string model, Visit visit) : model_(std::move(model)), visit_(std::move(visit)) {}

  Status graph(::onnx::GraphProto& graph, int depth = 0) {
    if (depth > kMaxGraphDepth) return Error(ErrorKind::kCorrupt, model_ + ": graphs nest too deeply", model_);
    for (auto& tensor : *graph.mutable_initializer()) WEIR_RETURN_IF_ERROR(visit_(tensor, depth == 0));
    for (auto& tensor : *graph.mutable_sparse_initializer()) WEIR_RETURN_IF_ERROR(sparse(tensor));
    for (auto& node : *graph.mutable_node()) WEIR_RETURN_IF_ERROR(attributes(node, depth));
    return {};
  }

  Status attributes(::onnx::NodeProto& node, int depth) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) WEIR_RETURN_IF_ERROR(visit_(*attribute.mutable_t(), false));
      for (auto& tensor : *attribute.mutable_tensors()) WEIR_RETURN_IF_ERROR(visit_(tensor, false));
      if (attribute.has_sparse_tensor()) WEIR_RETURN_IF_ERROR(sparse(*attribute.mutable_sparse_tensor()));
      for (auto& tensor : *attribute.mutable_sparse_tensors()) WEIR_RETURN_IF_ERROR(sparse(tensor));
      if (attribute.has_g()) WEIR_RETURN_IF_ERROR(graph(*attribute.mutable_g(), depth + 1));
      for (auto& body : *attribute.mutable_graphs()) WEIR_RETURN_IF_ERROR(graph(body, depth + 1));
    }
    return {};
  }

 private:
  Status sparse(::onnx::SparseTensorProto& tensor) {
    WEIR_RETURN_IF_ERROR(visit_(*tensor.mutable_values(), false));
    return visit_(*tensor.mutable_indices(), false);
  }

  std::string model_;
  Visit visit_;
};

bool is_external(const ::onnx::TensorProto& tensor) { return tensor.data_location() == ::onnx::TensorProto::EXTERNAL; }

/// The bytes of an initializer in the graph, if it holds them in the form that an external file has.
std::span<const std::byte> inline_bytes(const ::onnx::TensorProto& tensor) {
  if (tensor.has_raw_data()) {
    return {reinterpret_cast<const std::byte*>(tensor.raw_data().data()), tensor.raw_data().size()};
  }
  if (tensor.data_type() == ::onnx::TensorProto::FLOAT) {
    return std::as_bytes(std::span(tensor.float_data().data(), static_cast<std::size_t>(tensor.float_data_size())));
  }
  if (tensor.data_type() == ::onnx::TensorProto::INT64) {
    return std::as_bytes(std::span(tensor.int64_data().data(), static_cast<std::size_t>(tensor.int64_data_size())));
  }
  return {};
}

}  // namespace

struct Model::Impl {
  std::string name;
  std::string folder;
  ::onnx::ModelProto model;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;

  Status visit(const TensorVisitor::Visit& each) {
    TensorVisitor visitor(name, each);
    WEIR_RETURN_IF_ERROR(visitor.graph(*model.mutable_graph()));
    for (auto& function : *model.mutable_functions()) {
      for (auto& node : *function.mutable_node()) WEIR_RETURN_IF_ERROR(visitor.attributes(node, 0));
    }
    return {};
  }
};

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const std::vector<ValueInfo>& Model::inputs() const { return impl_->inputs; }
const std::vector<ValueInfo>& Model::outputs() const { return impl_->outputs; }

Result<Model> Model::read(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return parse(file.bytes(), path, std::filesystem::path(path).parent_path().string());
}

Result<Model> Model::parse(std::span<const std::byte> bytes, const std::string& name, const std::string& folder) {
  const auto corrupt = [&](const char* what) { return Error(ErrorKind::kCorrupt, name + ": " + what, name); };
  if (bytes.size() > kMaxModelBytes) {
    return Error(ErrorKind::kUnsupported,
                 name + ": larger than 2 GiB; save the model with its weights in an external data file", name);
  }
  auto impl = std::make_unique<Impl>();
  impl->name = name;
  impl->folder = folder;
  if (bytes.empty() || !impl->model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return corrupt("not an ONNX model: its bytes are no such protobuf message; the file may be truncated");
  }
  if (!impl->model.has_graph() || impl->model.graph().node_size() == 0) return corrupt("an ONNX model without a graph");
  impl->model.clear_training_info();
  if (impl->model.opset_import_size() == 0) return corrupt("an ONNX model that names no operator set");
  std::set<std::string_view> initializers;
  for (const auto& tensor : impl->model.graph().initializer()) initializers.insert(tensor.name());
  for (const auto& input : impl->model.graph().input()) {
    if (!initializers.contains(input.name())) impl->inputs.push_back(describe(input));
  }
  for (const auto& output : impl->model.graph().output()) impl->outputs.push_back(describe(output));
  return Model(std::move(impl));
}

std::vector<std::pair<std::string, std::int64_t>> Model::opsets() const {
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  for (const auto& opset : impl_->model.opset_import()) opsets.emplace_back(opset.domain(), opset.version());
  return opsets;
}

Graph Model::graph() const { return read_graph(impl_->model, impl_->name, impl_->folder); }

bool Model::drop_activation_rounding() {
  auto& graph = *impl_->model.mutable_graph();
  std::set<std::string> fixed;
  for (const auto& tensor : graph.initializer()) fixed.insert(tensor.name());
  std::set<std::string> rounded;
  std::vector<::onnx::NodeProto*> pairs;
  for (auto& node : *graph.mutable_node()) {
    const bool quantizes = node.op_type() == "QuantizeLinear" && node.input_size() > 0 && node.output_size() == 1;
    if (!quantizes || fixed.contains(node.input(0))) continue;
    rounded.insert(node.output(0));
    pairs.push_back(&node);
  }
  for (auto& node : *graph.mutable_node()) {
    for (int i = 0; i < node.input_size(); ++i) {
      if (!rounded.contains(node.input(i))) continue;
      if (node.op_type() != "DequantizeLinear" || i != 0) return false;
      pairs.push_back(&node);
    }
  }
  for (::onnx::NodeProto* node : pairs) {
    node->set_op_type("Identity");
    node->clear_domain();
    node->clear_attribute();
    node->mutable_input()->DeleteSubrange(1, node->input_size() - 1);
  }
  // What they said of the types is no longer so, and nobody needs their scales.
  graph.clear_value_info();
  std::set<std::string> used;
  for (const auto& node : graph.node()) used.insert(node.input().begin(), node.input().end());
  auto& tensors = *graph.mutable_initializer();
  const auto unused =
      std::remove_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return !used.contains(tensor.name()); });
  tensors.erase(unused, tensors.end());
  return true;
}

Result<std::vector<std::string>> Model::external_files() const {
  const ExternalData data(impl_->name, impl_->folder);
  std::set<std::string> files;
  WEIR_RETURN_IF_ERROR(impl_->visit([&](::onnx::TensorProto& tensor, bool) -> Status {
    if (!is_external(tensor)) return {};
    WEIR_ASSIGN_OR_RETURN(const ExternalReference reference, data.reference(tensor));
    files.insert(reference.location);
    return {};
  }));
  return std::vector<std::string>(files.begin(), files.end());
}

Status Model::move_weights(WeightsFile& weights) {
  ExternalData data(impl_->name, impl_->folder);
  return impl_->visit([&](::onnx::TensorProto& tensor, bool is_initializer) -> Status {
    if (is_external(tensor)) {
      WEIR_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, data.bytes(tensor));
      refer_to(tensor, weights.name(), weights.append(bytes));
      return {};
    }
    const std::span<const std::byte> bytes = inline_bytes(tensor);
    if (!is_initializer || bytes.size() < kMinExternalBytes) return {};
    const auto needed = tensor_bytes(tensor, impl_->name);
    // Elements of half a byte cannot be told from their count; they stay where they are.
    if (!needed.ok() && needed.error().kind == ErrorKind::kUnsupported) return {};
    if (!needed.ok()) return needed.error();
    if (*needed != bytes.size()) {
      return Error(ErrorKind::kCorrupt,
                   impl_->name + ": tensor '" + tensor.name().substr(0, 200) + "': its shape needs " +
                       std::to_string(*needed) + " bytes, but it has " + std::to_string(bytes.size()),
                   impl_->name);
    }
    refer_to(tensor, weights.name(), weights.append(bytes));
    return {};
  });
}

Status Model::save(const std::string& path) const { return save_model(impl_->model, path); }

}  // namespace weir::onnx
