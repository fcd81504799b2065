#include "packed_weights/linear_q8.h"

#include <bit>
#include <cstring>
#include <string>

#include "kernels/matmul_q8/pack.h"

namespace weir::packed_weights {
namespace {

static_assert(std::endian::native == std::endian::little, "packed weights are read where they lie");

constexpr char kMagic[8] = {'W', 'E', 'I', 'R', 'L', 'Q', '8', '\0'};

struct Header {
  char magic[8];
  std::uint32_t layout_version;
  std::uint32_t reserved_0;
  std::uint64_t inputs;
  std::uint64_t channels;
  std::uint64_t total_bytes;
  std::uint64_t reserved[3];
};
static_assert(sizeof(Header) == kAlignmentBytes);

kernels::PackedWeightsQ8 shape_of(std::uint64_t inputs, std::uint64_t channels) {
  kernels::PackedWeightsQ8 shape;
  shape.inputs = inputs;
  shape.channels = channels;
  return shape;
}

/// Where each part begins.
struct Parts {
  std::size_t values = sizeof(Header);
  std::size_t correction;
  std::size_t scale;
  std::size_t bias;
  std::size_t end;

  explicit Parts(const kernels::PackedWeightsQ8& shape)
      : correction(values + shape.panels() * shape.panel_bytes()),
        scale(correction + shape.padded_channels() * sizeof(std::int32_t)),
        bias(scale + shape.padded_channels() * sizeof(float)),
        end(bias + shape.padded_channels() * sizeof(float)) {}
};

bool sizes_fit(std::uint64_t inputs, std::uint64_t channels) {
  return inputs >= 1 && inputs <= kMaxInputs && channels >= 1 && channels <= kMaxChannels;
}

Error corrupt(const std::string& what) {
  return {ErrorKind::kCorrupt, "packed weights " + what + "; the file is damaged: import the model again"};
}

std::string text(std::uint64_t value) { return std::to_string(value); }

}  // namespace

Result<std::vector<std::byte>> pack_linear_q8(std::span<const float> weights, std::span<const float> bias,
                                              std::size_t inputs, std::size_t channels) {
  if (!sizes_fit(inputs, channels)) {
    return Error(ErrorKind::kUnsupported, "a linear layer of " + text(inputs) + " inputs and " + text(channels) +
                                              " channels cannot be packed in 8 bits; at most " + text(kMaxInputs) +
                                              " and " + text(kMaxChannels));
  }
  const Parts parts(shape_of(inputs, channels));
  std::vector<std::byte> bytes(parts.end);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.layout_version = kLayoutVersion;
  header.inputs = inputs;
  header.channels = channels;
  header.total_bytes = parts.end;
  std::memcpy(bytes.data(), &header, sizeof header);
  kernels::PackedWeightsQ8Buffers buffers;
  buffers.values = reinterpret_cast<std::int8_t*>(bytes.data() + parts.values);
  buffers.correction = reinterpret_cast<std::int32_t*>(bytes.data() + parts.correction);
  buffers.scale = reinterpret_cast<float*>(bytes.data() + parts.scale);
  buffers.bias = reinterpret_cast<float*>(bytes.data() + parts.bias);
  kernels::pack_weights_q8(weights.data(), bias.empty() ? nullptr : bias.data(), inputs, channels, buffers);
  return bytes;
}

Result<kernels::PackedWeightsQ8> view_linear_q8(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header) return corrupt("are only " + text(bytes.size()) + " bytes, less than their header");
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignmentBytes != 0) {
    return corrupt("do not begin at a multiple of " + text(kAlignmentBytes) + " bytes");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return corrupt("do not begin with WEIRLQ8");
  if (header.layout_version != kLayoutVersion) {
    return Error(ErrorKind::kUnsupported, "packed weights have layout version " + text(header.layout_version) +
                                              "; this weir reads version " + text(kLayoutVersion) +
                                              ": import the model again with it");
  }
  if (!sizes_fit(header.inputs, header.channels)) {
    return corrupt("claim " + text(header.inputs) + " inputs and " + text(header.channels) + " channels");
  }
  kernels::PackedWeightsQ8 view = shape_of(header.inputs, header.channels);
  const Parts parts(view);
  if (header.total_bytes != parts.end || bytes.size() != parts.end) {
    return corrupt("are " + text(bytes.size()) + " bytes; " + text(header.inputs) + " inputs and " +
                   text(header.channels) + " channels take " + text(parts.end));
  }
  view.values = reinterpret_cast<const std::int8_t*>(bytes.data() + parts.values);
  view.correction = reinterpret_cast<const std::int32_t*>(bytes.data() + parts.correction);
  view.scale = reinterpret_cast<const float*>(bytes.data() + parts.scale);
  view.bias = reinterpret_cast<const float*>(bytes.data() + parts.bias);
  return view;
}

}  // namespace weir::packed_weights
