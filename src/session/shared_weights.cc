#include "session/shared_weights.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <onnx/onnx-ml.pb.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "ops/domain.h"

namespace weir::session {
namespace {

/// A graph file larger than this holds its weights itself; there is nothing outside to share.
constexpr std::size_t kGraphLimitBytes = 256 << 20;

struct ExternalTensor {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::vector<std::int64_t> shape;
};

/// Bytes of one element; 0 for types whose weights are not worth sharing.
std::size_t element_bytes(int type) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::INT32:
      return 4;
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
      return 2;
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
      return 1;
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::DOUBLE:
      return 8;
    default:
      return 0;
  }
}

bool parse_whole(const std::string& text, std::uint64_t& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

/// Empty when the shape is negative or its bytes overflow.
std::optional<std::uint64_t> shape_bytes(const std::vector<std::int64_t>& shape, std::size_t element) {
  std::uint64_t bytes = element;
  for (const auto extent : shape) {
    if (extent < 0) return std::nullopt;
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) return std::nullopt;
  }
  return bytes;
}

/// What the graph says of an external initializer. Empty when it says it in a way that ONNX Runtime had better judge
/// itself: nothing is shared then, and what is wrong is reported by the loader.
std::optional<ExternalTensor> external_tensor(const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL || element_bytes(tensor.data_type()) == 0) {
    return std::nullopt;
  }
  ExternalTensor external;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") external.location = entry.value();
    if (entry.key() == "offset" && !parse_whole(entry.value(), external.offset)) return std::nullopt;
    if (entry.key() == "length" && !parse_whole(entry.value(), external.length)) return std::nullopt;
  }
  external.shape.assign(tensor.dims().begin(), tensor.dims().end());
  const auto bytes = shape_bytes(external.shape, element_bytes(tensor.data_type()));
  const bool plain_name = !external.location.empty() && external.location.find('/') == std::string::npos;
  if (!plain_name || !bytes || *bytes != external.length || *bytes == 0) return std::nullopt;
  return external;
}

bool is_inside(const MappedFile& file, const ExternalTensor& external) {
  const auto bytes = file.bytes();
  return external.offset <= bytes.size() && external.length <= bytes.size() - external.offset;
}

/// The bytes of a tensor in its file, where is_inside(); empty when they are not aligned for their type.
std::span<const std::byte> tensor_bytes(const MappedFile& file, const ExternalTensor& external, std::size_t element) {
  const auto bytes = file.bytes();
  if (external.offset % element != 0) return {};
  return bytes.subspan(external.offset, external.length);
}

Result<onnx::ModelProto> read_graph(const MappedFile& file, const std::string& path) {
  onnx::ModelProto model;
  const auto bytes = file.bytes();
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error(ErrorKind::kCorrupt, path + ": not an ONNX graph: its protobuf cannot be read", path);
  }
  return model;
}

/// An initializer kept outside of the graph.
struct Initializer {
  const onnx::TensorProto* tensor = nullptr;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Names of what the graph's nodes of our operators read.
std::set<std::string_view> inputs_of_our_operators(const onnx::GraphProto& graph) {
  std::set<std::string_view> names;
  for (const auto& node : graph.node()) {
    if (node.domain() != ops::kDomainName) continue;
    names.insert(node.input().begin(), node.input().end());
  }
  return names;
}

/// Copies packed weights, which only our operators read, into huge pages. Empty, and nothing moved, where the kernel
/// has no huge pages or memory is short: the mapped file serves as well.
HugeMemory move_packed_weights(const onnx::GraphProto& graph, std::vector<Initializer>& initializers) {
  constexpr std::size_t kAlignment = 64;  // as in the file
  const Memory memory = read_memory();
  if (memory.transparent_huge_pages != "always" && memory.transparent_huge_pages != "madvise") return {};
  const std::set<std::string_view> ours = inputs_of_our_operators(graph);
  std::vector<Initializer*> packed;
  // Layers may share weights.
  std::map<std::pair<const std::byte*, std::size_t>, std::size_t> places;
  const auto key = [](const Initializer& of) { return std::pair(of.bytes.data(), of.bytes.size()); };
  std::size_t size = 0;
  for (Initializer& initializer : initializers) {
    const onnx::TensorProto& tensor = *initializer.tensor;
    if (tensor.data_type() != onnx::TensorProto::INT8 || !ours.contains(tensor.name())) continue;
    packed.push_back(&initializer);
    if (places.try_emplace(key(initializer), size).second) {
      size += (initializer.bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
    }
  }
  if (size > memory.available_bytes / 2) return {};
  Result<HugeMemory> copies = HugeMemory::allocate(size);
  if (!copies.ok()) return {};
  for (Initializer* initializer : packed) {
    const std::size_t place = places.at(key(*initializer));
    const std::span<std::byte> copy = copies->bytes().subspan(place, initializer->bytes.size());
    std::memcpy(copy.data(), initializer->bytes.data(), copy.size());
    initializer->bytes = copy;
  }
  return std::move(copies).value();
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

}  // namespace

SharedWeights::Impl::~Impl() {
  if (packed != nullptr) Ort::GetApi().ReleasePrepackedWeightsContainer(packed);
}

Status SharedWeights::Impl::prepare(const std::string& path) {
  if (!model_path.empty()) {
    if (model_path == path) return {};
    return Error(ErrorKind::kInternal, path + ": shares the weights of another model, " + model_path, path);
  }
  WEIR_ASSIGN_OR_RETURN(const MappedFile graph_file, MappedFile::open(path));
  if (packed == nullptr) Ort::ThrowOnError(Ort::GetApi().CreatePrepackedWeightsContainer(&packed));
  if (graph_file.bytes().size() <= kGraphLimitBytes) {
    WEIR_ASSIGN_OR_RETURN(const onnx::ModelProto model, read_graph(graph_file, path));
    std::vector<Initializer> initializers;
    for (const auto& tensor : model.graph().initializer()) {
      const auto external = external_tensor(tensor);
      if (!external) continue;
      const std::string file_path = folder_of(path) + "/" + external->location;
      auto [file, is_new] = files.try_emplace(file_path);
      if (is_new) {
        WEIR_ASSIGN_OR_RETURN(file->second, MappedFile::open(file_path));
      }
      if (!is_inside(file->second, *external)) {
        return Error(ErrorKind::kCorrupt,
                     file_path + ": has " + std::to_string(file->second.bytes().size()) + " bytes, but tensor '" +
                         tensor.name() + "' of " + path + " ends later; the file is truncated",
                     file_path);
      }
      const auto bytes = tensor_bytes(file->second, *external, element_bytes(tensor.data_type()));
      if (!bytes.empty()) initializers.push_back({&tensor, external->shape, bytes});
    }
    if (huge_pages) copies = move_packed_weights(model.graph(), initializers);
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
    for (const Initializer& initializer : initializers) {
      // ONNX Runtime takes a pointer to what it only reads.
      values.push_back(Ort::Value::CreateTensor(
          memory, const_cast<std::byte*>(initializer.bytes.data()), initializer.bytes.size(), initializer.shape.data(),
          initializer.shape.size(), static_cast<ONNXTensorElementDataType>(initializer.tensor->data_type())));
      names.push_back(initializer.tensor->name());
    }
  }
  model_path = path;
  return {};
}

void SharedWeights::Impl::release_pages() const {
  for (const auto& [path, file] : files) {
    const auto bytes = file.bytes();
    if (!bytes.empty()) madvise(const_cast<std::byte*>(bytes.data()), bytes.size(), MADV_DONTNEED);
  }
}

SharedWeights::SharedWeights(bool huge_pages) : impl_(std::make_unique<Impl>()) { impl_->huge_pages = huge_pages; }
SharedWeights::~SharedWeights() = default;
std::size_t SharedWeights::huge_page_bytes() const { return impl_->copies.bytes().size(); }

}  // namespace weir::session
