#include "torch_file/torch_file.h"

#include <utility>

#include "safetensors/dtype.h"
#include "torch_file/pickle.h"
#include "torch_file/zip.h"

namespace weir::torch_file {
namespace {

using Bytes = std::span<const std::byte>;
using safetensors::DType;

constexpr std::uint64_t kMaxCopiedBytes = std::uint64_t{256} << 20;

Error corrupt(const std::string& file, const std::string& tensor, const std::string& what) {
  return {ErrorKind::kCorrupt, file + ": tensor '" + tensor + "': " + what, file};
}

struct ElementType {
  std::string_view storage;
  DType dtype;
};

constexpr ElementType kElementTypes[] = {
    {"torch FloatStorage", DType::kF32},  {"torch HalfStorage", DType::kF16}, {"torch BFloat16Storage", DType::kBF16},
    {"torch DoubleStorage", DType::kF64}, {"torch LongStorage", DType::kI64}, {"torch IntStorage", DType::kI32},
    {"torch ShortStorage", DType::kI16},  {"torch CharStorage", DType::kI8},  {"torch ByteStorage", DType::kU8},
    {"torch BoolStorage", DType::kBool},
};

const ElementType* find_type(std::string_view storage) {
  for (const ElementType& type : kElementTypes) {
    if (type.storage == storage) return &type;
  }
  return nullptr;
}

/// The number of elements; 0 also where there are more than `most`.
std::uint64_t elements_of(const Described& tensor, std::uint64_t most) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : tensor.shape) {
    if (size == 0 || count > most / size) return 0;
    count *= size;
  }
  return count;
}

bool is_contiguous(const Described& tensor) {
  std::uint64_t stride = 1;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

Result<safetensors::Tensor> view_tensor(const std::string& name, const Described& described, Bytes storage,
                                        const std::string& file) {
  const ElementType* type = find_type(described.storage_type);
  if (type == nullptr) {
    return Error(
        ErrorKind::kUnsupported,
        file + ": tensor '" + name + "': elements of " + described.storage_type.substr(0, 100) + " are not supported",
        file);
  }
  const std::size_t element_bytes = safetensors::dtype_bytes(type->dtype);
  const std::uint64_t stored = storage.size() / element_bytes;
  const std::uint64_t count = elements_of(described, stored);
  if (count == 0) return corrupt(file, name, "its shape is empty, or larger than its bytes");
  if (!is_contiguous(described)) {
    return Error(ErrorKind::kUnsupported, file + ": tensor '" + name + "' is not contiguous", file);
  }
  if (described.first > stored || count > stored - described.first) {
    return corrupt(file, name, "its bytes are not all in the file");
  }
  return safetensors::Tensor{name, file, type->dtype, described.shape,
                             storage.subspan(described.first * element_bytes, count * element_bytes)};
}

}  // namespace

Result<safetensors::Tensors> parse(Bytes bytes, const std::string& name) {
  constexpr std::string_view kPickle = "data.pkl";
  if (bytes.size() < 2 || std::to_integer<char>(bytes[0]) != 'P' || std::to_integer<char>(bytes[1]) != 'K') {
    return Error(ErrorKind::kUnsupported,
                 name + ": not a zip archive, as PyTorch has written since 1.6; save it anew, or as safetensors", name);
  }
  WEIR_ASSIGN_OR_RETURN(const auto entries, zip_entries(bytes, name));
  std::string folder;
  Bytes pickle;
  for (const auto& [entry, content] : entries) {
    if (!entry.ends_with(kPickle)) continue;
    folder = entry.substr(0, entry.size() - kPickle.size());
    pickle = content;
  }
  if (pickle.empty()) return Error(ErrorKind::kCorrupt, name + ": no data.pkl in it", name);
  WEIR_ASSIGN_OR_RETURN(const auto described, read_pickle(pickle, name));
  safetensors::Tensors tensors;
  for (const auto& [tensor, description] : described) {
    const auto storage = entries.find(folder + "data/" + description.key);
    if (storage == entries.end()) return corrupt(name, tensor, "its storage is not in the file");
    WEIR_ASSIGN_OR_RETURN(tensors[tensor], view_tensor(tensor, description, storage->second, name));
  }
  return tensors;
}

Result<File> File::open(const std::string& path) {
  File file;
  WEIR_ASSIGN_OR_RETURN(file.mapped_, MappedFile::open(path));
  WEIR_ASSIGN_OR_RETURN(file.tensors_, parse(file.mapped_.bytes(), path));
  return file;
}

Result<std::map<std::string, Tensor>> read_state_dict(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const File file, File::open(path));
  std::map<std::string, Tensor> tensors;
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    // Many tensors may share one storage, so that a small file could ask for any amount of memory.
    bytes += tensor.bytes.size();
    if (bytes > kMaxCopiedBytes) return corrupt(path, name, "too large for a head of a model");
    WEIR_ASSIGN_OR_RETURN(std::vector<float> values, tensor.floats());
    tensors[name] = {tensor.shape, std::move(values)};
  }
  return tensors;
}

}  // namespace weir::torch_file
