#include "kernels/quantize/quantize_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Quantized {
  Quantized(std::size_t rows, std::size_t columns)
      : stride(padded_columns(columns)), values(rows * stride), scale(rows) {}
  std::size_t stride;
  Guarded<std::uint8_t> values;
  Guarded<RowScale> scale;
};

void quantize_with(const QuantizeRowsVariant& variant, const Guarded<float>& in, std::size_t rows, std::size_t columns,
                   Quantized& out) {
  variant.run({in.data(), columns, rows, columns, out.values.data(), out.stride, out.scale.data()});
}

const QuantizeRowsVariant& reference() { return choose_quantize_rows(kNeedsNothing); }

TEST(QuantizeRows, EveryVariantGivesTheBytesOfTheReference) {
  std::mt19937 random(1);
  for (const std::size_t columns : {0, 1, 15, 16, 17, 63, 64, 65, 127, 384, 1021}) {
    for (const std::size_t rows : {0, 1, 2, 7}) {
      Guarded<float> in(rows * columns);
      fill_normal(in, random, 3.0f);
      Quantized expected(rows, columns);
      quantize_with(reference(), in, rows, columns, expected);
      for (const auto* variant : runnable(quantize_rows_variants())) {
        Quantized actual(rows, columns);
        quantize_with(*variant, in, rows, columns, actual);
        EXPECT_TRUE(same_bits(expected.values, actual.values)) << variant->name << ' ' << rows << 'x' << columns;
        EXPECT_TRUE(same_bits(expected.scale, actual.scale)) << variant->name << ' ' << rows << 'x' << columns;
      }
    }
  }
}

TEST(QuantizeRows, ErrorIsWithinHalfAStepOfTheRowsOwnRange) {
  std::mt19937 random(2);
  Guarded<float> in(384);
  for (const float mean : {0.0f, 5.0f, -5.0f}) {
    fill_normal(in, random, 1.0f, mean);
    const auto [least, greatest] = std::minmax_element(in.begin(), in.end());
    const float range = std::max(*greatest, 0.0f) - std::min(*least, 0.0f);
    for (const auto* variant : runnable(quantize_rows_variants())) {
      Quantized out(1, 384);
      quantize_with(*variant, in, 1, 384, out);
      const RowScale scale = out.scale[0];
      EXPECT_FLOAT_EQ(scale.step, range / 254.0f) << variant->name;
      for (std::size_t c = 0; c < 384; ++c) {
        const float restored = scale.center + static_cast<float>(out.values[c] - 128) * scale.step;
        EXPECT_NEAR(restored, in[c], scale.step * 0.5001f) << variant->name << " column " << c;
      }
    }
  }
}

TEST(QuantizeRows, RowsWithoutAScale) {
  constexpr std::size_t kColumns = 19;
  for (const auto* variant : runnable(quantize_rows_variants())) {
    for (const float odd : {0.0f, 1e-38f, kInfinity, -kInfinity, std::nanf(""), -std::nanf("")}) {
      Guarded<float> in(kColumns);
      for (float& value : in) value = std::isfinite(odd) ? 0.0f : 2.0f;
      in[17] = odd;
      Quantized out(1, kColumns);
      quantize_with(*variant, in, 1, kColumns, out);
      for (const std::uint8_t value : out.values) EXPECT_EQ(value, 128) << variant->name << ' ' << odd;
      EXPECT_EQ(std::isnan(out.scale[0].step), !std::isfinite(odd)) << variant->name << ' ' << odd;
      EXPECT_TRUE(!std::isfinite(odd) || out.scale[0].step == 0.0f) << variant->name << ' ' << odd;
    }
  }
}

TEST(QuantizeRows, ChoiceFollowsTheFeatures) {
  expect_choices_fit(quantize_rows_variants(), choose_quantize_rows);
  report_variants("quantize_rows", quantize_rows_variants());
}

}  // namespace
}  // namespace weir::kernels
