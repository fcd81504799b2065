#include "safetensors/dtype.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace weir::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors is little-endian, and so is all that weir runs on");

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Row, 15> kRows = {{
    {DType::kBool, "BOOL", 1},
    {DType::kU8, "U8", 1},
    {DType::kI8, "I8", 1},
    {DType::kF8E5M2, "F8_E5M2", 1},
    {DType::kF8E4M3, "F8_E4M3", 1},
    {DType::kU16, "U16", 2},
    {DType::kI16, "I16", 2},
    {DType::kF16, "F16", 2},
    {DType::kBF16, "BF16", 2},
    {DType::kU32, "U32", 4},
    {DType::kI32, "I32", 4},
    {DType::kF32, "F32", 4},
    {DType::kU64, "U64", 8},
    {DType::kI64, "I64", 8},
    {DType::kF64, "F64", 8},
}};

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

template <class Stored, class Value, class Convert>
std::vector<Value> converted(std::span<const std::byte> bytes, Convert convert) {
  std::vector<Value> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = convert(stored);
  }
  return values;
}

template <class Stored>
std::vector<std::int64_t> widened(std::span<const std::byte> bytes) {
  return converted<Stored, std::int64_t>(bytes, [](Stored stored) { return static_cast<std::int64_t>(stored); });
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::size_t dtype_bytes(DType dtype) { return row(dtype).bytes; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) return candidate.dtype;
  }
  return std::nullopt;
}

float float_from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero or subnormal: fraction × 2⁻²⁴, which binary32 holds as a normal number.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

std::optional<std::vector<float>> floats_from(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kF32:
      return converted<float, float>(bytes, [](float stored) { return stored; });
    case DType::kF16:
      return converted<std::uint16_t, float>(bytes, float_from_f16);
    case DType::kBF16:
      return converted<std::uint16_t, float>(bytes, float_from_bf16);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<std::int64_t>> integers_from(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kU8:
      return widened<std::uint8_t>(bytes);
    case DType::kI8:
      return widened<std::int8_t>(bytes);
    case DType::kU16:
      return widened<std::uint16_t>(bytes);
    case DType::kI16:
      return widened<std::int16_t>(bytes);
    case DType::kU32:
      return widened<std::uint32_t>(bytes);
    case DType::kI32:
      return widened<std::int32_t>(bytes);
    case DType::kI64:
      return widened<std::int64_t>(bytes);
    case DType::kU64: {
      auto values = widened<std::uint64_t>(bytes);
      for (const std::int64_t value : values) {
        if (value < 0) return std::nullopt;
      }
      return values;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace weir::safetensors
