#include "safetensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <simdjson.h>

namespace weir::safetensors {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxDepth = 8;
constexpr std::size_t kMaxNameBytes = 1024;

/// Where a tensor's bytes lie, relative to the end of the header.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const std::string* tensor = nullptr;
};

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> data, const std::string& file) : data_(data), file_(file) {}

  Result<Tensors> read(dom::object header) {
    for (const auto field : header) {
      if (field.key == "__metadata__") continue;
      WEIR_RETURN_IF_ERROR(read_tensor(field.key, field.value));
    }
    WEIR_RETURN_IF_ERROR(check_extents());
    return std::move(tensors_);
  }

 private:
  Error corrupt(std::string_view tensor, const std::string& what) const {
    return {ErrorKind::kCorrupt, file_ + ": tensor '" + std::string(tensor.substr(0, 200)) + "': " + what, file_};
  }

  Status read_tensor(std::string_view name, dom::element value) {
    if (name.empty() || name.size() > kMaxNameBytes) return corrupt(name, "its name is empty or too long");
    if (tensors_.size() == kMaxTensors) {
      return Error(ErrorKind::kCorrupt, file_ + ": more than " + std::to_string(kMaxTensors) + " tensors", file_);
    }
    const auto [position, inserted] = tensors_.try_emplace(std::string(name));
    if (!inserted) return corrupt(name, "stands in the header twice");
    Tensor& tensor = position->second;
    tensor.name = name;
    tensor.file = file_;
    dom::object fields;
    if (value.get(fields)) return corrupt(name, "its description is not an object");
    WEIR_RETURN_IF_ERROR(read_dtype(fields, tensor));
    WEIR_RETURN_IF_ERROR(read_shape(fields, tensor));
    return read_offsets(fields, tensor, position->first);
  }

  Status read_dtype(dom::object fields, Tensor& tensor) const {
    std::string_view name;
    if (fields.at_key("dtype").get(name)) return corrupt(tensor.name, "field 'dtype' is missing or not a string");
    const auto dtype = dtype_from_name(name);
    if (!dtype) {
      return Error(ErrorKind::kUnsupported,
                   file_ + ": tensor '" + tensor.name + "': unknown dtype '" + std::string(name.substr(0, 40)) + "'",
                   file_);
    }
    tensor.dtype = *dtype;
    return {};
  }

  Status read_shape(dom::object fields, Tensor& tensor) const {
    dom::array shape;
    if (fields.at_key("shape").get(shape)) return corrupt(tensor.name, "field 'shape' is missing or not an array");
    for (const dom::element dimension : shape) {
      std::uint64_t size = 0;
      if (dimension.get(size)) return corrupt(tensor.name, "field 'shape' holds something that is not a whole number");
      if (tensor.shape.size() == kMaxRank) return corrupt(tensor.name, "has too many dimensions");
      tensor.shape.push_back(size);
    }
    return {};
  }

  Status read_offsets(dom::object fields, Tensor& tensor, const std::string& key) {
    dom::array pair;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (fields.at_key("data_offsets").get(pair) || pair.size() != 2 || pair.at(0).get(begin) || pair.at(1).get(end)) {
      return corrupt(tensor.name, "field 'data_offsets' is missing or not two whole numbers");
    }
    if (begin > end || end > data_.size()) {
      return corrupt(tensor.name, "its bytes are said to be [" + std::to_string(begin) + ", " + std::to_string(end) +
                                      "), but the file has " + std::to_string(data_.size()) +
                                      " bytes of data; the file may be truncated");
    }
    WEIR_ASSIGN_OR_RETURN(const std::uint64_t expected, byte_size(tensor));
    if (expected != end - begin) {
      return corrupt(tensor.name, "shape " + shape_text(tensor.shape) + " of " + std::string(dtype_name(tensor.dtype)) +
                                      " needs " + std::to_string(expected) + " bytes, but it has " +
                                      std::to_string(end - begin));
    }
    tensor.bytes = data_.subspan(begin, end - begin);
    extents_.push_back({begin, end, &key});
    return {};
  }

  Result<std::uint64_t> byte_size(const Tensor& tensor) const {
    std::uint64_t size = dtype_bytes(tensor.dtype);
    for (const std::uint64_t dimension : tensor.shape) {
      if (dimension != 0 && size > std::numeric_limits<std::uint64_t>::max() / dimension) {
        return corrupt(tensor.name, "shape " + shape_text(tensor.shape) + " is too large");
      }
      size *= dimension;
    }
    return size;
  }

  /// The format wants the tensors to fill the data without overlap and without a hole: bytes that nothing describes
  /// would be a place to hide something, and an overlap a sign of a damaged header.
  Status check_extents() {
    std::sort(extents_.begin(), extents_.end(),
              [](const Extent& a, const Extent& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
    std::uint64_t filled = 0;
    for (const Extent& extent : extents_) {
      if (extent.begin < filled) return corrupt(*extent.tensor, "its bytes overlap with those of another tensor");
      if (extent.begin > filled) return corrupt(*extent.tensor, "there are bytes before it that belong to no tensor");
      filled = extent.end;
    }
    if (filled != data_.size()) {
      return Error(ErrorKind::kCorrupt,
                   file_ + ": " + std::to_string(data_.size() - filled) + " bytes at the end belong to no tensor",
                   file_);
    }
    return {};
  }

  std::span<const std::byte> data_;
  const std::string& file_;
  Tensors tensors_;
  std::vector<Extent> extents_;
};

}  // namespace

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dimension);
  }
  return text + "]";
}

Result<std::vector<float>> Tensor::floats() const {
  if (auto values = floats_from(dtype, bytes)) return std::move(*values);
  return Error(ErrorKind::kUnsupported,
               file + ": tensor '" + name + "' is of type " + std::string(dtype_name(dtype)) +
                   "; weights must be F32, F16 or BF16",
               file);
}

Result<std::vector<std::int64_t>> Tensor::integers() const {
  if (auto values = integers_from(dtype, bytes)) return std::move(*values);
  return Error(ErrorKind::kUnsupported,
               file + ": tensor '" + name + "' of type " + std::string(dtype_name(dtype)) +
                   " cannot be read as signed 64-bit integers",
               file);
}

Result<Tensors> parse(std::span<const std::byte> bytes, const std::string& name) {
  const auto corrupt = [&](const std::string& what) { return Error(ErrorKind::kCorrupt, name + ": " + what, name); };
  if (bytes.size() < kLengthBytes) return corrupt("too short for a safetensors file");
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes > bytes.size() - kLengthBytes) {
    return corrupt("the header is said to have " + std::to_string(header_bytes) + " bytes, but only " +
                   std::to_string(bytes.size() - kLengthBytes) +
                   " follow; the file is truncated or not a safetensors file");
  }
  if (header_bytes > kMaxHeaderBytes) {
    return corrupt("the header has " + std::to_string(header_bytes) + " bytes; the limit is " +
                   std::to_string(kMaxHeaderBytes));
  }
  dom::parser parser;
  if (const auto code = parser.allocate(header_bytes + 1, kMaxDepth)) return corrupt(simdjson::error_message(code));
  const simdjson::padded_string json(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, header_bytes);
  dom::element root;
  dom::object header;
  if (const auto code = parser.parse(json).get(root)) {
    return corrupt(std::string("the header is not valid JSON: ") + simdjson::error_message(code));
  }
  if (root.get(header)) return corrupt("the header is not a JSON object");
  return HeaderReader(bytes.subspan(kLengthBytes + header_bytes), name).read(header);
}

Result<File> File::open(const std::string& path) {
  File file;
  WEIR_ASSIGN_OR_RETURN(file.mapped_, MappedFile::open(path));
  WEIR_ASSIGN_OR_RETURN(file.tensors_, parse(file.mapped_.bytes(), path));
  return file;
}

}  // namespace weir::safetensors
