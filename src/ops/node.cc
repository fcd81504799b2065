#include "ops/node.h"

#include <cstring>

namespace weir::ops {
namespace {

Error bad_attribute(const char* attribute, const std::string& what) {
  return {ErrorKind::kInvalidArgument, std::string("attribute '") + attribute + "' " + what, attribute};
}

OrtErrorCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return ORT_INVALID_ARGUMENT;
    case ErrorKind::kUnsupported:
      return ORT_NOT_IMPLEMENTED;
    case ErrorKind::kCorrupt:
      return ORT_INVALID_GRAPH;
    default:
      return ORT_FAIL;
  }
}

}  // namespace

std::string Node::name() const {
  const Ort::ConstKernelInfo info{info_};
  return info.GetNodeName();
}

Result<std::int64_t> Node::integer(const char* attribute, std::int64_t least, std::int64_t most) const {
  std::int64_t value = 0;
  const Ort::Status status(Ort::GetApi().KernelInfoGetAttribute_int64(info_, attribute, &value));
  if (!status.IsOK()) return bad_attribute(attribute, "is missing or not an integer");
  if (value < least || value > most) {
    return bad_attribute(attribute, "is " + std::to_string(value) + "; it must be from " + std::to_string(least) +
                                        " to " + std::to_string(most));
  }
  return value;
}

Result<std::int64_t> Node::integer_or(const char* attribute, std::int64_t least, std::int64_t most,
                                      std::int64_t missing) const {
  std::int64_t value = 0;
  const Ort::Status status(Ort::GetApi().KernelInfoGetAttribute_int64(info_, attribute, &value));
  return status.IsOK() ? integer(attribute, least, most) : missing;
}

Result<float> Node::number(const char* attribute) const {
  float value = 0;
  const Ort::Status status(Ort::GetApi().KernelInfoGetAttribute_float(info_, attribute, &value));
  if (!status.IsOK()) return bad_attribute(attribute, "is missing or not a float");
  return value;
}

Result<std::size_t> Node::choice(const char* attribute, std::span<const char* const> names) const {
  char text[64] = {};
  std::size_t size = sizeof text;
  const Ort::Status status(Ort::GetApi().KernelInfoGetAttribute_string(info_, attribute, text, &size));
  if (!status.IsOK() || size == 0) return bad_attribute(attribute, "is missing, or not a string of a few letters");
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::strcmp(text, names[i]) == 0) return i;
    known += std::string(i == 0 ? "" : ", ") + names[i];
  }
  return bad_attribute(attribute, "is '" + std::string(text) + "'; it must be one of " + known);
}

Result<bool> Node::flag(const char* attribute) const {
  WEIR_ASSIGN_OR_RETURN(const std::int64_t value, integer(attribute, 0, 1));
  return value == 1;
}

Result<std::span<const std::byte>> Node::constant_bytes(std::size_t input) const {
  const Ort::ConstKernelInfo info{info_};
  int is_constant = 0;
  const Ort::ConstValue value = info.GetTensorConstantInput(input, &is_constant);
  if (is_constant == 0 || value == nullptr) {
    return Error(ErrorKind::kInvalidArgument,
                 "input " + std::to_string(input) + " must be an initializer that holds packed weights");
  }
  const auto shape = value.GetTensorTypeAndShapeInfo();
  if (shape.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8) {
    return Error(ErrorKind::kInvalidArgument, "input " + std::to_string(input) + " must hold int8, the packed weights");
  }
  const auto* bytes = static_cast<const std::byte*>(value.GetTensorRawData());
  return std::span(bytes, shape.GetElementCount());
}

OrtStatusPtr ort_status(const std::string& place, const Error& error) {
  return Ort::GetApi().CreateStatus(code_of(error.kind), (place + ": " + error.message).c_str());
}

}  // namespace weir::ops
