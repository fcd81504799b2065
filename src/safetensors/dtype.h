// Element types of a safetensors file and their conversion to float.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weir::safetensors {

enum class DType { kBool, kU8, kI8, kF8E5M2, kF8E4M3, kU16, kI16, kF16, kBF16, kU32, kI32, kF32, kU64, kI64, kF64 };

/// As the file names it, such as "BF16".
std::string_view dtype_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
std::size_t dtype_bytes(DType dtype);

/// IEEE 754 binary16 and bfloat16 to binary32: exact for every value, NaN payloads kept.
float float_from_f16(std::uint16_t bits);
float float_from_bf16(std::uint16_t bits);

/// Little-endian F32, F16 or BF16 elements as floats; empty for other types. `bytes` need not be aligned.
std::optional<std::vector<float>> floats_from(DType dtype, std::span<const std::byte> bytes);

/// Little-endian signed or unsigned integers of any width; empty for other types and for values above int64's.
std::optional<std::vector<std::int64_t>> integers_from(DType dtype, std::span<const std::byte> bytes);

}  // namespace weir::safetensors
