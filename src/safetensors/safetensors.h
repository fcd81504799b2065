// Tensors of a safetensors file, mapped: eight bytes with the header's length (little-endian), a JSON header that names
// each tensor's type, shape and bytes, then the bytes.
//
// A File is immutable once opened; tensors point into its mapping and are valid while it lives (moving it keeps them
// valid). Any number of threads may read. Every length, offset and shape is checked before it is used; errors are
// kCorrupt and name the file and the tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "safetensors/dtype.h"

namespace weir::safetensors {

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxTensors = 200'000;
inline constexpr std::size_t kMaxRank = 16;

struct Tensor {
  std::string name;
  std::string file;  ///< For messages.
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;

  std::uint64_t elements() const { return bytes.size() / dtype_bytes(dtype); }

  /// F32, F16 and BF16 as floats. kUnsupported for other types.
  Result<std::vector<float>> floats() const;
  /// Integer types. kUnsupported for others.
  Result<std::vector<std::int64_t>> integers() const;
};

/// "[2, 3]".
std::string shape_text(std::span<const std::uint64_t> shape);

using Tensors = std::map<std::string, Tensor, std::less<>>;

/// Parses a whole file's bytes; `name` is for messages. The tensors point into `bytes`.
Result<Tensors> parse(std::span<const std::byte> bytes, const std::string& name);

class File {
 public:
  /// kNotFound, kIo, kCorrupt.
  static Result<File> open(const std::string& path);

  const Tensors& tensors() const { return tensors_; }

 private:
  MappedFile mapped_;
  Tensors tensors_;
};

}  // namespace weir::safetensors
