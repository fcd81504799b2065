#include "torch_file/torch_file.h"

#include <cstring>

#include "base/file.h"
#include "safetensors/dtype.h"
#include "torch_file/pickle.h"
#include "torch_file/zip.h"

namespace weir::torch_file {
namespace {

using Bytes = std::span<const std::byte>;

Error corrupt(const std::string& file, const std::string& tensor, const std::string& what) {
  return {ErrorKind::kCorrupt, file + ": tensor '" + tensor + "': " + what, file};
}

struct ElementType {
  std::string_view storage;
  std::size_t bytes;
  float (*read)(const std::byte*);
};

template <class Stored>
Stored load(const std::byte* at) {
  Stored value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

constexpr ElementType kElementTypes[] = {
    {"torch FloatStorage", 4, [](const std::byte* at) { return load<float>(at); }},
    {"torch HalfStorage", 2, [](const std::byte* at) { return safetensors::float_from_f16(load<std::uint16_t>(at)); }},
    {"torch BFloat16Storage", 2,
     [](const std::byte* at) { return safetensors::float_from_bf16(load<std::uint16_t>(at)); }},
};

const ElementType* find_type(std::string_view storage) {
  for (const ElementType& type : kElementTypes) {
    if (type.storage == storage) return &type;
  }
  return nullptr;
}

/// The number of elements; 0 also where it would not fit into any file.
std::uint64_t elements_of(const Described& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : tensor.shape) {
    if (size == 0 || count > kMaxFileBytes / size) return 0;
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

Result<Tensor> read_tensor(const std::string& name, const Described& described, Bytes storage,
                           const std::string& file) {
  const ElementType* type = find_type(described.storage_type);
  if (type == nullptr) {
    return Error(ErrorKind::kUnsupported,
                 file + ": tensor '" + name + "': elements of " + described.storage_type.substr(0, 100) +
                     " are not supported; weir reads float, half and bfloat16",
                 file);
  }
  const std::uint64_t count = elements_of(described);
  if (count == 0) return corrupt(file, name, "its shape is empty or too large");
  if (!is_contiguous(described)) {
    return Error(ErrorKind::kUnsupported, file + ": tensor '" + name + "' is not contiguous", file);
  }
  const std::uint64_t stored = storage.size() / type->bytes;
  if (described.first > stored || count > stored - described.first) {
    return corrupt(file, name, "its bytes are not all in the file");
  }
  Tensor tensor{described.shape, {}};
  tensor.values.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    tensor.values.push_back(type->read(storage.data() + (described.first + i) * type->bytes));
  }
  return tensor;
}

}  // namespace

Result<std::map<std::string, Tensor>> parse_state_dict(Bytes bytes, const std::string& name) {
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
  std::map<std::string, Tensor> tensors;
  std::uint64_t values = 0;
  for (const auto& [tensor, description] : described) {
    const auto storage = entries.find(folder + "data/" + description.key);
    if (storage == entries.end()) return corrupt(name, tensor, "its storage is not in the file");
    values += elements_of(description);
    if (values > kMaxFileBytes) return corrupt(name, tensor, "the tensors are larger than the file");
    WEIR_ASSIGN_OR_RETURN(tensors[tensor], read_tensor(tensor, description, storage->second, name));
  }
  return tensors;
}

Result<std::map<std::string, Tensor>> read_state_dict(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxFileBytes));
  return parse_state_dict(std::as_bytes(std::span(bytes)), path);
}

}  // namespace weir::torch_file
