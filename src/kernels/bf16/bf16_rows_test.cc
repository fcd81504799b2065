#include "kernels/bf16/bf16_rows.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

float value_of(std::uint16_t bf16) { return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16); }

std::uint16_t converted(const Bf16RowsVariant& variant, float x) {
  Guarded<float> in(1);
  Guarded<std::uint16_t> out(padded_bf16_columns(1));
  in[0] = x;
  variant.run({in.data(), 1, 1, 1, out.data(), out.size()});
  return out[0];
}

TEST(Bf16Rows, KnownValues) {
  constexpr std::pair<std::uint32_t, std::uint16_t> kCases[] = {
      {0x00000000, 0x0000}, {0x80000000, 0x8000}, {0x3f800000, 0x3f80},
      {0xbf800000, 0xbf80}, {0x3f807fff, 0x3f80},  // below the middle
      {0x3f808000, 0x3f80},                        // the middle, to even
      {0x3f818000, 0x3f82},                        // the middle, to even
      {0x3f808001, 0x3f81},                        // above the middle
      {0x7f7fffff, 0x7f80},                        // the largest float is beyond the largest bf16
      {0x7f800000, 0x7f80}, {0xff800000, 0xff80}, {0x7fc00000, 0x7fc0},
      {0xffc00000, 0xffc0}, {0x7fffffff, 0x7fc0},  // rounding must not carry a NaN into the sign
      {0x00018000, 0x0002},                        // subnormal
  };
  for (const auto* variant : runnable(bf16_rows_variants())) {
    for (const auto& [in, out] : kCases) {
      EXPECT_EQ(converted(*variant, std::bit_cast<float>(in)), out) << variant->name << std::hex << ' ' << in;
    }
  }
}

TEST(Bf16Rows, EveryVariantGivesTheNearest) {
  std::mt19937 random(3);
  for (const std::size_t columns : {1, 15, 16, 17, 31, 32, 33, 100, 384}) {
    constexpr std::size_t kRows = 3;
    const std::size_t stride = padded_bf16_columns(columns);
    Guarded<float> in(kRows * columns);
    fill_normal(in, random, 10.0f);
    for (const auto* variant : runnable(bf16_rows_variants())) {
      Guarded<std::uint16_t> out(kRows * stride);
      std::fill(out.begin(), out.end(), std::uint16_t{0xffff});
      variant->run({in.data(), columns, kRows, columns, out.data(), stride});
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t column = i % stride;
        if (column >= columns) {
          ASSERT_EQ(out[i], 0) << variant->name << " padding";
          continue;
        }
        const float exact = in[i / stride * columns + column];
        const float error = std::fabs(value_of(out[i]) - exact);
        for (const int step : {-1, 1}) {
          const float neighbour = value_of(static_cast<std::uint16_t>(out[i] + step));
          ASSERT_LE(error, std::fabs(neighbour - exact)) << variant->name << ' ' << exact;
        }
      }
    }
  }
}

TEST(Bf16Rows, ChoiceFollowsTheFeatures) {
  expect_choices_fit(bf16_rows_variants(), choose_bf16_rows);
  report_variants("bf16_rows", bf16_rows_variants());
}

}  // namespace
}  // namespace weir::kernels
