#include "onnx/external_data.h"

#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

namespace weir::onnx {
namespace {

namespace fs = std::filesystem;

bool read_number(const std::string& text, std::uint64_t& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// 0 for types whose elements are no whole bytes.
std::uint64_t element_bytes(std::int32_t type) {
  switch (type) {
    case ::onnx::TensorProto::BOOL:
    case ::onnx::TensorProto::INT8:
    case ::onnx::TensorProto::UINT8:
    case 17:  // FLOAT8E4M3FN and its kin are newer than the schema that is compiled in.
    case 18:
    case 19:
    case 20:
      return 1;
    case ::onnx::TensorProto::INT16:
    case ::onnx::TensorProto::UINT16:
    case ::onnx::TensorProto::FLOAT16:
    case ::onnx::TensorProto::BFLOAT16:
      return 2;
    case ::onnx::TensorProto::FLOAT:
    case ::onnx::TensorProto::INT32:
    case ::onnx::TensorProto::UINT32:
      return 4;
    case ::onnx::TensorProto::DOUBLE:
    case ::onnx::TensorProto::INT64:
    case ::onnx::TensorProto::UINT64:
    case ::onnx::TensorProto::COMPLEX64:
      return 8;
    case ::onnx::TensorProto::COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

}  // namespace

Result<std::uint64_t> tensor_bytes(const ::onnx::TensorProto& tensor, const std::string& model_name) {
  const std::string where = model_name + ": tensor '" + tensor.name().substr(0, 200) + "'";
  std::uint64_t size = element_bytes(tensor.data_type());
  if (size == 0) {
    return Error(ErrorKind::kUnsupported,
                 where + ": element type " + std::to_string(tensor.data_type()) + " cannot lie in an external file",
                 model_name);
  }
  for (const std::int64_t dimension : tensor.dims()) {
    const auto count = static_cast<std::uint64_t>(dimension);
    if (dimension < 0 || (count != 0 && size > std::numeric_limits<std::uint64_t>::max() / count)) {
      return Error(ErrorKind::kCorrupt, where + ": its shape is negative or too large", model_name);
    }
    size *= count;
  }
  return size;
}

ExternalData::ExternalData(std::string model_path, std::string folder)
    : model_path_(std::move(model_path)), folder_(folder.empty() ? "." : std::move(folder)) {}

Error ExternalData::corrupt(const ::onnx::TensorProto& tensor, const std::string& what) const {
  return {ErrorKind::kCorrupt, model_path_ + ": tensor '" + tensor.name().substr(0, 200) + "': " + what, model_path_};
}

Result<ExternalReference> ExternalData::reference(const ::onnx::TensorProto& tensor) const {
  ExternalReference reference;
  WEIR_ASSIGN_OR_RETURN(reference.length, tensor_bytes(tensor, model_path_));
  const std::uint64_t needed = reference.length;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") reference.location = entry.value();
    const bool is_offset = entry.key() == "offset";
    if (!is_offset && entry.key() != "length") continue;
    if (!read_number(entry.value(), is_offset ? reference.offset : reference.length)) {
      return corrupt(tensor, "external_data." + entry.key() + " is not a whole number");
    }
  }
  if (reference.length != needed) {
    return corrupt(tensor, "external_data.length is " + std::to_string(reference.length) + ", but its shape needs " +
                               std::to_string(needed) + " bytes");
  }
  const fs::path path = reference.location;
  bool plain = !path.empty() && path.is_relative() && reference.location.find('\0') == std::string::npos;
  for (const fs::path& part : path) plain = plain && part != "..";
  if (!plain) {
    return corrupt(tensor, "external_data.location '" + reference.location.substr(0, 200) +
                               "' is not a file inside the model's folder");
  }
  return reference;
}

Result<std::string> ExternalData::confined_path(const ::onnx::TensorProto& tensor, const std::string& location) const {
  const std::string path = folder_ + "/" + location;
  std::error_code code;
  if (!fs::exists(path, code)) {
    return Error(ErrorKind::kNotFound, path + ": missing, though " + model_path_ + " keeps tensors in it", path);
  }
  // A download cache keeps links in the model's folder and the files elsewhere, the graph's own among them: a link may
  // lead to where the graph's does, and nowhere else.
  const fs::path real = fs::canonical(path, code);
  const fs::path folder = fs::canonical(folder_, code);
  const fs::path beside_graph = fs::canonical(model_path_, code).parent_path();
  if (is_inside(real, folder) || (!beside_graph.empty() && is_inside(real, beside_graph))) return path;
  return corrupt(tensor, "external_data.location '" + location.substr(0, 200) + "' links out of the model's folder");
}

Result<std::span<const std::byte>> ExternalData::bytes(const ::onnx::TensorProto& tensor) {
  WEIR_ASSIGN_OR_RETURN(const ExternalReference wanted, reference(tensor));
  auto position = files_.find(wanted.location);
  if (position == files_.end()) {
    WEIR_ASSIGN_OR_RETURN(const std::string path, confined_path(tensor, wanted.location));
    WEIR_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
    position = files_.emplace(wanted.location, std::move(file)).first;
  }
  const std::span<const std::byte> all = position->second.bytes();
  if (wanted.offset > all.size() || wanted.length > all.size() - wanted.offset) {
    return corrupt(tensor, "its bytes are said to be " + std::to_string(wanted.length) + " at offset " +
                               std::to_string(wanted.offset) + " of '" + wanted.location + "', which has " +
                               std::to_string(all.size()) + " bytes; the file may be truncated");
  }
  return all.subspan(wanted.offset, wanted.length);
}

}  // namespace weir::onnx
