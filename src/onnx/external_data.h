// The bytes of tensors that a model keeps in files beside it. One thread.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"
#include "onnx/proto.h"

namespace weir::onnx {

/// Where a tensor says its external bytes lie.
struct ExternalReference {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Bytes that a tensor's shape and type need. kCorrupt when a size is negative or overflows; kUnsupported for strings
/// and types of less than a byte.
Result<std::uint64_t> tensor_bytes(const ::onnx::TensorProto& tensor, const std::string& model_name);

class ExternalData {
 public:
  /// `model_path` is what messages name; files are looked for in `folder`.
  ExternalData(std::string model_path, std::string folder);

  /// kCorrupt: an entry is malformed, or the location is not a plain relative path inside the folder.
  Result<ExternalReference> reference(const ::onnx::TensorProto& tensor) const;

  /// The tensor's bytes, mapped; valid while this object lives. kNotFound, kIo, kCorrupt.
  Result<std::span<const std::byte>> bytes(const ::onnx::TensorProto& tensor);

 private:
  Error corrupt(const ::onnx::TensorProto& tensor, const std::string& what) const;
  Result<std::string> confined_path(const ::onnx::TensorProto& tensor, const std::string& location) const;

  std::string model_path_;
  std::string folder_;
  std::map<std::string, MappedFile> files_;
};

}  // namespace weir::onnx
