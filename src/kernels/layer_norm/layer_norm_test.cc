#include "kernels/layer_norm/layer_norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/quantize/quantize_rows.h"
#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

struct Case {
  Case(std::size_t row_count, std::size_t column_count, unsigned seed)
      : rows(row_count),
        columns(column_count),
        in(rows * columns),
        residual(rows * columns),
        gamma(columns),
        beta(columns) {
    std::mt19937 random(seed);
    fill_normal(in, random, 2.0f, 5.0f);
    fill_normal(residual, random);
    fill_normal(gamma, random, 0.1f, 1.0f);
    fill_normal(beta, random);
  }
  LayerNorm args(float* out) {
    LayerNorm a;
    a.in = in.data();
    a.residual = residual.data();
    a.in_stride = a.residual_stride = a.out_stride = columns;
    a.rows = rows;
    a.columns = columns;
    a.parameters = {gamma.data(), beta.data(), 1e-5f};
    a.out = out;
    return a;
  }
  double exact(std::size_t row, std::size_t column) const {
    const auto x = [&](std::size_t c) {
      return static_cast<double>(in[row * columns + c]) + residual[row * columns + c];
    };
    double mean = 0;
    for (std::size_t c = 0; c < columns; ++c) mean += x(c) / static_cast<double>(columns);
    double variance = 0;
    for (std::size_t c = 0; c < columns; ++c) variance += (x(c) - mean) * (x(c) - mean) / static_cast<double>(columns);
    return (x(column) - mean) / std::sqrt(variance + 1e-5) * gamma[column] + beta[column];
  }
  std::size_t rows, columns;
  Guarded<float> in, residual, gamma, beta;
};

TEST(LayerNorm, EveryVariantIsExactWithinRoundingAndGivesTheSameBits) {
  for (const std::size_t columns : {1, 2, 15, 16, 17, 31, 384, 769}) {
    Case test(3, columns, static_cast<unsigned>(columns));
    Guarded<float> expected(3 * columns);
    choose_layer_norm(kNeedsNothing).run(test.args(expected.data()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(expected[i], test.exact(i / columns, i % columns), 2e-5) << columns;
    }
    for (const auto* variant : runnable(layer_norm_variants())) {
      Guarded<float> actual(3 * columns);
      variant->run(test.args(actual.data()));
      EXPECT_TRUE(same_bits(expected, actual)) << variant->name << ' ' << columns;
    }
  }
}

TEST(LayerNorm, InPlaceAndQuantizedRowsAreThoseOfTheSeparateSteps) {
  constexpr std::size_t kRows = 2;
  constexpr std::size_t kColumns = 77;
  for (const auto* variant : runnable(layer_norm_variants())) {
    Case test(kRows, kColumns, 9);
    Guarded<float> separate(kRows * kColumns);
    variant->run(test.args(separate.data()));
    Guarded<std::uint8_t> bytes(kRows * padded_columns(kColumns));
    Guarded<RowScale> scale(kRows);
    choose_quantize_rows(kNeedsNothing)
        .run({separate.data(), kColumns, kRows, kColumns, bytes.data(), padded_columns(kColumns), scale.data()});

    Guarded<std::uint8_t> fused_bytes(bytes.size());
    Guarded<RowScale> fused_scale(kRows);
    Guarded<float> row(80);
    LayerNorm only_bytes = test.args(nullptr);
    only_bytes.quantized = fused_bytes.data();
    only_bytes.quantized_stride = padded_columns(kColumns);
    only_bytes.quantized_scale = fused_scale.data();
    only_bytes.row_scratch = row.data();
    variant->run(only_bytes);
    EXPECT_TRUE(same_bits(bytes, fused_bytes)) << variant->name;
    EXPECT_TRUE(same_bits(scale, fused_scale)) << variant->name;

    variant->run(test.args(test.residual.data()));
    EXPECT_TRUE(same_bits(separate, test.residual)) << variant->name;
  }
}

TEST(LayerNorm, NoRowsTouchNothing) {
  Case test(0, 16, 1);
  for (const auto* variant : runnable(layer_norm_variants())) variant->run(test.args(nullptr));
}

TEST(LayerNorm, ChoiceFollowsTheFeatures) {
  expect_choices_fit(layer_norm_variants(), choose_layer_norm);
  report_variants("layer_norm", layer_norm_variants());
}

}  // namespace
}  // namespace weir::kernels
