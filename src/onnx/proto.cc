#include "onnx/proto.h"

#include "base/file.h"

namespace weir::onnx {

void refer_to(::onnx::TensorProto& tensor, const std::string& file, const Location& location) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", file);
  add("offset", std::to_string(location.offset));
  add("length", std::to_string(location.length));
}

Status save_model(const ::onnx::ModelProto& model, const std::string& path) {
  std::string bytes;
  if (model.ByteSizeLong() > kMaxModelBytes || !model.SerializeToString(&bytes)) {
    return Error(ErrorKind::kUnsupported, path + ": the graph is too large for one file", path);
  }
  return write_file(path, bytes);
}

}  // namespace weir::onnx
