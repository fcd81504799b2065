#include "kernels/quantize/quantize_rows.h"

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
  Guarded<float> scale;
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

TEST(QuantizeRows, ErrorIsWithinHalfAStep) {
  std::mt19937 random(2);
  Guarded<float> in(384);
  fill_normal(in, random, 0.01f);
  for (const auto* variant : runnable(quantize_rows_variants())) {
    Quantized out(1, 384);
    quantize_with(*variant, in, 1, 384, out);
    for (std::size_t c = 0; c < 384; ++c) {
      const float restored = static_cast<float>(out.values[c] - 128) * out.scale[0];
      EXPECT_NEAR(restored, in[c], out.scale[0] * 0.5001f) << variant->name << " column " << c;
    }
  }
}

TEST(QuantizeRows, RowsWithoutAScale) {
  constexpr std::size_t kColumns = 19;
  for (const auto* variant : runnable(quantize_rows_variants())) {
    for (const float odd : {0.0f, 1e-38f, kInfinity, -kInfinity, std::nanf("")}) {
      Guarded<float> in(kColumns);
      for (float& value : in) value = std::isfinite(odd) ? 0.0f : 2.0f;
      in[17] = odd;
      Quantized out(1, kColumns);
      quantize_with(*variant, in, 1, kColumns, out);
      for (const std::uint8_t value : out.values) EXPECT_EQ(value, 128) << variant->name << ' ' << odd;
      EXPECT_EQ(std::isnan(out.scale[0]), !std::isfinite(odd)) << variant->name << ' ' << odd;
      EXPECT_TRUE(!std::isfinite(odd) || out.scale[0] == 0.0f) << variant->name << ' ' << odd;
    }
  }
}

TEST(QuantizeRows, ChoiceFollowsTheFeatures) {
  expect_choices_fit(quantize_rows_variants(), choose_quantize_rows);
  report_variants("quantize_rows", quantize_rows_variants());
}

}  // namespace
}  // namespace weir::kernels
