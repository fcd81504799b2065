// PyTorch's own files of tensors, as `torch.save` writes a state_dict (pytorch_model.bin, bge-m3's sparse_linear.pt): a
// zip archive, nothing compressed, whose data.pkl is a dictionary of plain tensors. Nothing of a file is run: a pickle
// is a program, and of its instructions only those that such dictionaries consist of are known.
//
// The bytes are foreign: sizes are limited, every offset is checked. What else a file holds is refused by name. A File
// is immutable once opened, and any number of threads may read it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "safetensors/safetensors.h"

namespace weir::torch_file {

/// A state_dict by the names in it, as views of `bytes`. kCorrupt: not such a file, or it contradicts itself;
/// kUnsupported: the older form that is no zip archive, compressed entries, an element type that safetensors do not
/// have, a tensor that is not contiguous, an instruction that weir does not know. `name` is for messages.
Result<safetensors::Tensors> parse(std::span<const std::byte> bytes, const std::string& name);

class File {
 public:
  /// kNotFound, kIo, and as parse().
  static Result<File> open(const std::string& path);

  /// They point into the file's mapping.
  const safetensors::Tensors& tensors() const { return tensors_; }

 private:
  MappedFile mapped_;
  safetensors::Tensors tensors_;
};

struct Tensor {
  std::vector<std::uint64_t> shape;
  std::vector<float> values;  ///< Row-major.
};

/// A small file whose tensors are all floats, read whole. As File::open(); kUnsupported also for other elements.
Result<std::map<std::string, Tensor>> read_state_dict(const std::string& path);

}  // namespace weir::torch_file
