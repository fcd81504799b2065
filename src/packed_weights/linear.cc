#include "packed_weights/linear.h"

#include "kernels/matmul_q8/pack.h"
#include "packed_weights/header.h"

namespace weir::packed_weights {
namespace {

constexpr Magic kQ8 = {"WEIRLQ8\0"};
constexpr Magic kBf16 = {"WEIRLB16"};
constexpr Magic kF32 = {"WEIRLF32"};

struct PartsQ8 : Parts {
  explicit PartsQ8(const kernels::PackedWeightsQ8& shape)
      : values(add<std::int8_t>(shape.panels() * shape.panel_bytes())),
        correction(add<std::int32_t>(shape.padded_channels())),
        scale(add<float>(shape.padded_channels())),
        sum(add<float>(shape.padded_channels())),
        bias(add<float>(shape.padded_channels())) {}
  std::size_t values, correction, scale, sum, bias;
};

/// bf16 and fp32: values and bias.
template <class View, class Value>
struct PlainParts : Parts {
  explicit PlainParts(const View& shape)
      : values(add<Value>(shape.panels() * shape.panel_size())), bias(add<float>(shape.padded_channels())) {}
  std::size_t values, bias;
};

template <class View>
View shape_of(Sizes sizes) {
  View shape;
  shape.inputs = sizes.inputs;
  shape.channels = sizes.channels;
  return shape;
}

const float* or_null(std::span<const float> bias) { return bias.empty() ? nullptr : bias.data(); }

template <class View, class Value, class Pack>
Result<std::vector<std::byte>> pack_plain(const Magic& magic, Sizes sizes, const Pack& pack) {
  WEIR_RETURN_IF_ERROR(check_sizes(sizes));
  const PlainParts<View, Value> parts(shape_of<View>(sizes));
  WEIR_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, make_packed(magic, sizes, parts.end()));
  pack(part_at<Value>(bytes, parts.values), part_at<float>(bytes, parts.bias));
  return bytes;
}

template <class View, class Value>
Result<View> view_plain(const Magic& magic, std::span<const std::byte> bytes) {
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_header(magic, bytes));
  View view = shape_of<View>(sizes);
  const PlainParts<View, Value> parts(view);
  WEIR_RETURN_IF_ERROR(check_end(bytes, sizes, parts.end()));
  view.values = part_at<Value>(bytes, parts.values);
  view.bias = part_at<float>(bytes, parts.bias);
  return view;
}

}  // namespace

Result<std::vector<std::byte>> pack_linear_q8(std::span<const float> weights, std::span<const float> bias,
                                              std::size_t inputs, std::size_t channels) {
  const Sizes sizes{inputs, channels};
  WEIR_RETURN_IF_ERROR(check_sizes(sizes));
  const PartsQ8 parts(shape_of<kernels::PackedWeightsQ8>(sizes));
  WEIR_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, make_packed(kQ8, sizes, parts.end()));
  kernels::PackedWeightsQ8Buffers buffers;
  buffers.values = part_at<std::int8_t>(bytes, parts.values);
  buffers.correction = part_at<std::int32_t>(bytes, parts.correction);
  buffers.scale = part_at<float>(bytes, parts.scale);
  buffers.sum = part_at<float>(bytes, parts.sum);
  buffers.bias = part_at<float>(bytes, parts.bias);
  kernels::pack_weights_q8(weights.data(), or_null(bias), inputs, channels, buffers);
  return bytes;
}

Result<kernels::PackedWeightsQ8> view_linear_q8(std::span<const std::byte> bytes) {
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_header(kQ8, bytes));
  auto view = shape_of<kernels::PackedWeightsQ8>(sizes);
  const PartsQ8 parts(view);
  WEIR_RETURN_IF_ERROR(check_end(bytes, sizes, parts.end()));
  view.values = part_at<std::int8_t>(bytes, parts.values);
  view.correction = part_at<std::int32_t>(bytes, parts.correction);
  view.scale = part_at<float>(bytes, parts.scale);
  view.sum = part_at<float>(bytes, parts.sum);
  view.bias = part_at<float>(bytes, parts.bias);
  return view;
}

Result<std::vector<std::byte>> pack_linear_bf16(std::span<const float> weights, std::span<const float> bias,
                                                std::size_t inputs, std::size_t channels) {
  return pack_plain<kernels::PackedWeightsBf16, std::uint16_t>(
      kBf16, {inputs, channels}, [&](std::uint16_t* values, float* packed_bias) {
        kernels::pack_weights_bf16(weights.data(), or_null(bias), inputs, channels, values, packed_bias);
      });
}

Result<kernels::PackedWeightsBf16> view_linear_bf16(std::span<const std::byte> bytes) {
  return view_plain<kernels::PackedWeightsBf16, std::uint16_t>(kBf16, bytes);
}

Result<std::vector<std::byte>> pack_linear_f32(std::span<const float> weights, std::span<const float> bias,
                                               std::size_t inputs, std::size_t channels) {
  return pack_plain<kernels::PackedWeightsF32, float>(kF32, {inputs, channels}, [&](float* values, float* packed_bias) {
    kernels::pack_weights_f32(weights.data(), or_null(bias), inputs, channels, values, packed_bias);
  });
}

Result<kernels::PackedWeightsF32> view_linear_f32(std::span<const std::byte> bytes) {
  return view_plain<kernels::PackedWeightsF32, float>(kF32, bytes);
}

}  // namespace weir::packed_weights
