#include "onnx/graph.h"

#include <cstring>

#include "onnx/read_graph.h"

namespace weir::onnx {
namespace {

using ::onnx::TensorProto;

/// The schema packs all small types into int32_data, one number an element.
template <class Stored, class Numbers>
std::string packed(const Numbers& numbers) {
  std::string bytes(static_cast<std::size_t>(numbers.size()) * sizeof(Stored), '\0');
  for (int i = 0; i < numbers.size(); ++i) {
    const auto value = static_cast<Stored>(numbers[i]);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  }
  return bytes;
}

std::string spelt_out(const TensorProto& tensor) {
  switch (data_type_of(tensor.data_type())) {
    case DataType::kFloat:
      return packed<float>(tensor.float_data());
    case DataType::kDouble:
      return packed<double>(tensor.double_data());
    case DataType::kInt64:
      return packed<std::int64_t>(tensor.int64_data());
    case DataType::kUInt64:
      return packed<std::uint64_t>(tensor.uint64_data());
    case DataType::kUInt32:
      return packed<std::uint32_t>(tensor.uint64_data());
    case DataType::kInt32:
      return packed<std::int32_t>(tensor.int32_data());
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kInt16:
    case DataType::kUInt16:
      return packed<std::uint16_t>(tensor.int32_data());
    default:
      return packed<std::uint8_t>(tensor.int32_data());
  }
}

Error unreadable(const TensorProto& tensor, const std::string& what) {
  return {ErrorKind::kCorrupt, "tensor '" + tensor.name().substr(0, 200) + "': " + what};
}

class Reader {
 public:
  Reader(const std::string& name, const std::string& folder)
      : name_(name), data_(std::make_shared<ExternalData>(name, folder)) {}

  Graph read(const ::onnx::ModelProto& model) {
    for (const auto& opset : model.opset_import()) {
      if (plain_domain(opset.domain()).empty()) graph_.opset = opset.version();
    }
    for (const auto& initializer : model.graph().initializer()) {
      auto tensor = read_tensor(initializer);
      if (tensor.ok()) {
        graph_.initializers.insert_or_assign(initializer.name(), std::move(*tensor));
      } else {
        graph_.unreadable.insert_or_assign(initializer.name(), tensor.error().message);
      }
    }
    for (const auto& sparse : model.graph().sparse_initializer()) {
      graph_.unreadable.insert_or_assign(sparse.values().name(), "it is sparse");
    }
    graph_.nodes.reserve(static_cast<std::size_t>(model.graph().node_size()));
    for (const auto& node : model.graph().node()) graph_.nodes.push_back(read_node(node));
    graph_.files = data_;
    return std::move(graph_);
  }

 private:
  static std::string plain_domain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

  Result<TensorData> read_tensor(const TensorProto& tensor) {
    TensorData read;
    read.type = data_type_of(tensor.data_type());
    if (read.type == DataType::kOther) {
      return unreadable(tensor, "element type " + std::to_string(tensor.data_type()) + " is not supported");
    }
    read.dims.assign(tensor.dims().begin(), tensor.dims().end());
    WEIR_ASSIGN_OR_RETURN(const std::uint64_t needed, tensor_bytes(tensor, name_));
    if (tensor.data_location() == TensorProto::EXTERNAL) {
      WEIR_ASSIGN_OR_RETURN(read.bytes, data_->bytes(tensor));
    } else if (tensor.has_raw_data()) {
      read.bytes = std::as_bytes(std::span(tensor.raw_data()));
    } else {
      read.own_bytes = std::make_shared<const std::string>(spelt_out(tensor));
      read.bytes = std::as_bytes(std::span(*read.own_bytes));
    }
    if (read.bytes.size() == needed) return read;
    return unreadable(tensor, "its shape needs " + std::to_string(needed) + " bytes, but it has " +
                                  std::to_string(read.bytes.size()));
  }

  GraphNode read_node(const ::onnx::NodeProto& proto) {
    GraphNode node;
    node.op = proto.op_type();
    node.domain = plain_domain(proto.domain());
    node.name = proto.name();
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    for (const auto& attribute : proto.attribute()) {
      node.attributes.insert_or_assign(attribute.name(), read_attribute(attribute));
    }
    return node;
  }

  NodeAttribute read_attribute(const ::onnx::AttributeProto& attribute) {
    switch (attribute.type()) {
      case ::onnx::AttributeProto::INT:
        return attribute.i();
      case ::onnx::AttributeProto::FLOAT:
        return static_cast<double>(attribute.f());
      case ::onnx::AttributeProto::STRING:
        return attribute.s();
      case ::onnx::AttributeProto::INTS:
        return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
      case ::onnx::AttributeProto::FLOATS:
        return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
      case ::onnx::AttributeProto::TENSOR: {
        auto tensor = read_tensor(attribute.t());
        if (tensor.ok()) return std::move(*tensor);
        return {};
      }
      default:
        return {};
    }
  }

  std::string name_;
  std::shared_ptr<ExternalData> data_;
  Graph graph_;
};

}  // namespace

DataType data_type_of(std::int64_t number) {
  switch (number) {
    case TensorProto::FLOAT:
      return DataType::kFloat;
    case TensorProto::FLOAT16:
      return DataType::kFloat16;
    case TensorProto::BFLOAT16:
      return DataType::kBFloat16;
    case TensorProto::DOUBLE:
      return DataType::kDouble;
    case TensorProto::INT8:
      return DataType::kInt8;
    case TensorProto::UINT8:
      return DataType::kUInt8;
    case TensorProto::INT16:
      return DataType::kInt16;
    case TensorProto::UINT16:
      return DataType::kUInt16;
    case TensorProto::INT32:
      return DataType::kInt32;
    case TensorProto::UINT32:
      return DataType::kUInt32;
    case TensorProto::INT64:
      return DataType::kInt64;
    case TensorProto::UINT64:
      return DataType::kUInt64;
    case TensorProto::BOOL:
      return DataType::kBool;
    default:
      return DataType::kOther;
  }
}

std::size_t data_type_bytes(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kBool:
      return 1;
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kInt16:
    case DataType::kUInt16:
      return 2;
    case DataType::kFloat:
    case DataType::kInt32:
    case DataType::kUInt32:
      return 4;
    case DataType::kDouble:
    case DataType::kInt64:
    case DataType::kUInt64:
      return 8;
    case DataType::kOther:
      return 0;
  }
  return 0;
}

Graph read_graph(const ::onnx::ModelProto& model, const std::string& name, const std::string& folder) {
  return Reader(name, folder).read(model);
}

}  // namespace weir::onnx
