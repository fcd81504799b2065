#include "packed_weights/header.h"

#include <bit>
#include <cstring>

#include "packed_weights/limits.h"

namespace weir::packed_weights {
namespace {

static_assert(std::endian::native == std::endian::little, "packed weights are read where they lie");

constexpr std::size_t kMagicBytes = 8;

struct Header {
  char magic[kMagicBytes];
  std::uint32_t layout_version;
  std::uint32_t reserved_0;
  std::uint64_t inputs;
  std::uint64_t channels;
  std::uint64_t total_bytes;
  std::uint64_t reserved[3];
};
static_assert(sizeof(Header) == kAlignmentBytes);

Error corrupt(const std::string& what) {
  return {ErrorKind::kCorrupt, "packed weights " + what + "; the file is damaged: import the model again"};
}

std::string text(std::uint64_t value) { return std::to_string(value); }

bool sizes_fit(Sizes sizes) {
  return sizes.inputs >= 1 && sizes.inputs <= kMaxInputs && sizes.channels >= 1 && sizes.channels <= kMaxChannels;
}

}  // namespace

Parts::Parts() : end_(sizeof(Header)) {}

std::size_t Parts::add_bytes(std::size_t bytes) {
  const std::size_t begin = end_;
  end_ += (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  return begin;
}

Status check_sizes(Sizes sizes) {
  if (sizes_fit(sizes)) return {};
  return Error(ErrorKind::kUnsupported, "a linear layer of " + text(sizes.inputs) + " inputs and " +
                                            text(sizes.channels) + " channels cannot be packed; at most " +
                                            text(kMaxInputs) + " and " + text(kMaxChannels));
}

Result<std::vector<std::byte>> make_packed(const Magic& magic, Sizes sizes, std::size_t end) {
  WEIR_RETURN_IF_ERROR(check_sizes(sizes));
  std::vector<std::byte> bytes(end);
  Header header{};
  std::memcpy(header.magic, magic.text, kMagicBytes);
  header.layout_version = kLayoutVersion;
  header.inputs = sizes.inputs;
  header.channels = sizes.channels;
  header.total_bytes = end;
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Result<Sizes> read_header(const Magic& magic, std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header) return corrupt("are only " + text(bytes.size()) + " bytes, less than their header");
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignmentBytes != 0) {
    return corrupt("do not begin at a multiple of " + text(kAlignmentBytes) + " bytes");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, magic.text, kMagicBytes) != 0) {
    return corrupt("do not begin with " + std::string(magic.text));
  }
  if (header.layout_version != kLayoutVersion) {
    return Error(ErrorKind::kUnsupported, "packed weights have layout version " + text(header.layout_version) +
                                              "; this weir reads version " + text(kLayoutVersion) +
                                              ": import the model again with it");
  }
  const Sizes sizes{header.inputs, header.channels};
  if (!sizes_fit(sizes)) {
    return corrupt("claim " + text(header.inputs) + " inputs and " + text(header.channels) + " channels");
  }
  if (header.total_bytes != bytes.size()) {
    return corrupt("are " + text(bytes.size()) + " bytes instead of " + text(header.total_bytes));
  }
  return sizes;
}

Status check_end(std::span<const std::byte> bytes, Sizes sizes, std::size_t end) {
  if (bytes.size() == end) return {};
  return corrupt("are " + text(bytes.size()) + " bytes; " + text(sizes.inputs) + " inputs and " + text(sizes.channels) +
                 " channels take " + text(end));
}

}  // namespace weir::packed_weights
