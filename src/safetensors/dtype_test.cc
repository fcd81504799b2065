#include "safetensors/dtype.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "safetensors/testing.h"

namespace weir::safetensors {
namespace {

using testing::bytes_of;
using testing::span_of;

TEST(DType, EveryNameLeadsBackToItsType) {
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
    EXPECT_GE(dtype_bytes(dtype), 1u);
  }
  EXPECT_FALSE(dtype_from_name("F128").has_value());
  EXPECT_FALSE(dtype_from_name("f32").has_value());
}

TEST(DType, HalfPrecisionKnownValues) {
  EXPECT_EQ(float_from_f16(0x0000), 0.0f);
  EXPECT_TRUE(std::signbit(float_from_f16(0x8000)));
  EXPECT_EQ(float_from_f16(0x3C00), 1.0f);
  EXPECT_EQ(float_from_f16(0xC000), -2.0f);
  EXPECT_EQ(float_from_f16(0x7BFF), 65504.0f);
  EXPECT_EQ(float_from_f16(0x0400), 0x1p-14f);
  EXPECT_EQ(float_from_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(float_from_f16(0x83FF), -0x3FFp-24f);
  EXPECT_EQ(float_from_f16(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(float_from_f16(0xFC00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_from_f16(0x7E00)));
}

// Each finite binary16 value is sign × fraction × 2^exponent: computed here in double, from the format's definition.
TEST(DType, HalfPrecisionEveryFiniteValue) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::uint32_t exponent = (bits >> 10) & 0x1F;
    if (exponent == 0x1F) continue;
    const double fraction = (bits & 0x3FF) + (exponent == 0 ? 0 : 1024);
    double value = std::ldexp(fraction, static_cast<int>(exponent == 0 ? 1 : exponent) - 25);
    if (bits & 0x8000) value = -value;
    ASSERT_EQ(static_cast<double>(float_from_f16(static_cast<std::uint16_t>(bits))), value) << bits;
  }
}

TEST(DType, BrainFloatIsTheUpperHalf) {
  EXPECT_EQ(float_from_bf16(0x3F80), 1.0f);
  EXPECT_EQ(float_from_bf16(0xC040), -3.0f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(float_from_bf16(0x0001)), 0x00010000u);
  EXPECT_TRUE(std::isinf(float_from_bf16(0x7F80)));
  EXPECT_TRUE(std::isnan(float_from_bf16(0x7FC0)));
}

TEST(DType, FloatsFromUnalignedBytes) {
  const std::string bytes = "x" + bytes_of<float>({1.5f, -2.25f});
  const auto values = floats_from(DType::kF32, span_of(bytes).subspan(1));
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(*values, (std::vector<float>{1.5f, -2.25f}));
}

TEST(DType, FloatsOnlyFromFloats) {
  EXPECT_FALSE(floats_from(DType::kI64, {}).has_value());
  EXPECT_FALSE(floats_from(DType::kF64, {}).has_value());
  EXPECT_FALSE(floats_from(DType::kF8E4M3, {}).has_value());
}

TEST(DType, IntegersOfEveryWidth) {
  const auto check = [](DType dtype, const std::string& bytes, std::int64_t expected) {
    const auto values = integers_from(dtype, span_of(bytes));
    ASSERT_TRUE(values.has_value());
    EXPECT_EQ(*values, std::vector<std::int64_t>{expected});
  };
  check(DType::kI8, bytes_of<std::int8_t>({-7}), -7);
  check(DType::kU8, bytes_of<std::uint8_t>({200}), 200);
  check(DType::kI16, bytes_of<std::int16_t>({-30000}), -30000);
  check(DType::kU16, bytes_of<std::uint16_t>({60000}), 60000);
  check(DType::kI32, bytes_of<std::int32_t>({-2000000000}), -2000000000);
  check(DType::kU32, bytes_of<std::uint32_t>({4000000000}), 4000000000);
  check(DType::kI64, bytes_of<std::int64_t>({std::numeric_limits<std::int64_t>::min()}),
        std::numeric_limits<std::int64_t>::min());
  check(DType::kU64, bytes_of<std::uint64_t>({7}), 7);
  const std::string huge = bytes_of<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()});
  EXPECT_FALSE(integers_from(DType::kU64, span_of(huge)).has_value());
  EXPECT_FALSE(integers_from(DType::kF32, {}).has_value());
}

}  // namespace
}  // namespace weir::safetensors
