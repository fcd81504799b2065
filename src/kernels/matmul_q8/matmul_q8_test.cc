#include "kernels/matmul_q8/matmul_q8.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/bf16/bf16_rows.h"
#include "kernels/matmul_q8/pack.h"
#include "kernels/quantize/quantize_rows.h"
#include "kernels/testing/matmul_checks.h"

namespace weir::kernels {
namespace {

/// Random weights and activations of a shape, in guarded memory.
class Problem : public EpilogueInputs {
 public:
  explicit Problem(Shape s)
      : EpilogueInputs(s),
        activations(s.rows * padded_columns(s.inputs)),
        activation_scale(s.rows),
        plain_weights(s.inputs * s.channels),
        plain_bias(s.channels),
        values_(packed().panels() * packed().panel_bytes()),
        correction_(packed().padded_channels()),
        scale_(packed().padded_channels()),
        sum_(packed().padded_channels()),
        bias_(packed().padded_channels()) {
    std::mt19937 random(static_cast<unsigned>(s.rows * 31 + s.inputs * 7 + s.channels));
    Guarded<float> in(s.rows * s.inputs);
    fill_normal(in, random, 2.0f);
    fill_normal(plain_weights, random, 0.05f);
    fill_normal(plain_bias, random, 0.3f);
    choose_quantize_rows(kNeedsNothing)
        .run({in.data(), s.inputs, s.rows, s.inputs, activations.data(), padded_columns(s.inputs),
              activation_scale.data()});
    pack_weights_q8(plain_weights.data(), plain_bias.data(), s.inputs, s.channels,
                    {values_.data(), correction_.data(), scale_.data(), sum_.data(), bias_.data()});
  }

  PackedWeightsQ8 packed() const {
    return {shape.inputs, shape.channels, values_.data(), correction_.data(), scale_.data(), sum_.data(), bias_.data()};
  }
  MatmulQ8 args() const {
    MatmulQ8 a;
    a.activations = activations.data();
    a.activation_stride = padded_columns(shape.inputs);
    a.activation_scale = activation_scale.data();
    a.rows = shape.rows;
    a.weights = packed();
    return a;
  }
  double exact(std::size_t row, std::size_t channel) const {
    double sum = 0;
    for (std::size_t k = 0; k < shape.inputs; ++k) {
      const std::int8_t weight =
          values_[(channel / 16 * (packed().padded_inputs() / 4) + k / 4) * 64 + channel % 16 * 4 + k % 4];
      const RowScale& scale = activation_scale[row];
      sum += (scale.center + (activations[row * padded_columns(shape.inputs) + k] - 128.0) * scale.step) * weight;
    }
    return sum * scale_[channel] + plain_bias[channel];
  }

  Guarded<std::uint8_t> activations;
  Guarded<RowScale> activation_scale;
  Guarded<float> plain_weights, plain_bias;

 private:
  Guarded<std::int8_t> values_;
  Guarded<std::int32_t> correction_;
  Guarded<float> scale_, sum_, bias_;
};

TEST(MatmulQ8, TheReferenceIsTheFormula) { expect_near_formula<Problem>(choose_matmul_q8(kNeedsNothing), 1e-5, 1e-6); }

TEST(MatmulQ8, EveryVariantAndEpilogueGivesTheSameBits) {
  expect_bits_of<Problem>(choose_matmul_q8(kNeedsNothing), runnable(matmul_q8_variants()));
}

TEST(MatmulQ8, FusedStepsAreTheSeparateOnes) {
  const Shape shape = {9, 128, 70};
  const Problem problem(shape);
  const LayerNormParameters norm = problem.norm();
  Output separate(shape);
  run_alone(choose_matmul_q8(kNeedsNothing),
            with_epilogue(problem, {Activation::kNone, false, false, true, false, false}, norm, separate));
  LayerNorm layer_norm;
  layer_norm.in = layer_norm.out = separate.values.data();
  layer_norm.out = separate.values.data();
  layer_norm.residual = problem.residual.data();
  layer_norm.in_stride = layer_norm.residual_stride = layer_norm.out_stride = shape.channels;
  layer_norm.rows = shape.rows;
  layer_norm.columns = shape.channels;
  layer_norm.parameters = norm;
  layer_norm.quantized = separate.bytes.data();
  layer_norm.quantized_stride = padded_columns(shape.channels);
  layer_norm.quantized_scale = separate.scale.data();
  choose_layer_norm(kNeedsNothing).run(layer_norm);

  Output fused(shape);
  run_alone(choose_matmul_q8(kNeedsNothing),
            with_epilogue(problem, {Activation::kNone, true, true, true, true, true}, norm, fused));
  choose_bf16_rows(kNeedsNothing)
      .run({separate.values.data(), shape.channels, shape.rows, shape.channels, separate.bf16.data(),
            padded_bf16_columns(shape.channels)});
  expect_same(separate, fused, "fused", shape);
}

TEST(MatmulQ8, AGateMultipliesHalves) { expect_gate_is_a_product<Problem>(choose_matmul_q8(kNeedsNothing)); }

TEST(MatmulQ8, RowAndChannelSplitsGiveTheSameBits) {
  expect_same_bits_when_split<Problem>(runnable(matmul_q8_variants()));
}

TEST(MatmulQ8, ARowDoesNotSeeItsBatch) { expect_same_bits_in_any_batch<Problem>(runnable(matmul_q8_variants())); }

TEST(MatmulQ8, LargeBlocks) { expect_same_bits_in_large_blocks<Problem>(runnable(matmul_q8_variants())); }

TEST(MatmulQ8, ExtremeValuesDoNotSaturate) {
  constexpr std::size_t kInputs = 4096;
  Guarded<std::uint8_t> activations(kInputs);
  std::memset(activations.data(), 255, kInputs);
  std::vector<std::int8_t> weights(kInputs * 16, 127);
  const std::vector<float> weight_scale(16, 1.0f);
  std::vector<std::int8_t> values(kInputs * 16);
  std::vector<std::int32_t> correction(16);
  std::vector<float> scale(16), sum(16), bias(16);
  pack_quantized_weights_q8(weights.data(), weight_scale.data(), nullptr, kInputs, 16,
                            {values.data(), correction.data(), scale.data(), sum.data(), bias.data()});
  const RowScale one = {1.0f, 0.0f};
  MatmulQ8 args;
  args.activations = activations.data();
  args.activation_stride = kInputs;
  args.activation_scale = &one;
  args.rows = 1;
  args.weights = {kInputs, 16, values.data(), correction.data(), scale.data(), sum.data(), bias.data()};
  for (const auto* variant : runnable(matmul_q8_variants())) {
    Guarded<float> out(16);
    args.out = out.data();
    args.out_stride = 16;
    run_alone(*variant, args);
    for (const float value : out) EXPECT_EQ(value, 127.0f * 127.0f * kInputs) << variant->name;
  }
}

TEST(MatmulQ8, NanIsPassedOnAndStaysInItsRow) {
  Problem problem({3, 64, 20});
  problem.activation_scale[1].step = std::nanf("");
  expect_nan_in_second_row_only(problem, runnable(matmul_q8_variants()));
}

TEST(MatmulQ8, NanWeightsMakeTheirChannelNan) {
  const std::vector<float> weights = {1.0f, 2.0f, std::nanf(""), 1.0f};
  std::vector<std::int8_t> values(64 * 16);
  std::vector<std::int32_t> correction(16);
  std::vector<float> scale(16), sum(16), bias(16);
  pack_weights_q8(weights.data(), nullptr, 2, 2,
                  {values.data(), correction.data(), scale.data(), sum.data(), bias.data()});
  EXPECT_EQ(scale[0], 2.0f / 127.0f);
  EXPECT_EQ(sum[0], scale[0] * 191.0f) << "64 and 127 steps";
  EXPECT_EQ(values[1], 127);
  EXPECT_TRUE(std::isnan(scale[1]));
  EXPECT_EQ(correction[1], 0);
}

TEST(MatmulQ8, ChoiceFollowsTheFeatures) {
  expect_choices_fit(matmul_q8_variants(), choose_matmul_q8);
  EXPECT_STREQ(choose_matmul_q8(kNeedsAvxVnni.united(kNeedsAvx512)).name, "avx_vnni");
  report_variants("matmul_q8", matmul_q8_variants());
}

TEST(MatmulQ8, TheForcedIsaIsTheOneChosen) {
  expect_forced_choices(choose_matmul_q8, {{"scalar", "portable"},
                                           {"avx2", "avx2"},
                                           {"avx_vnni", "avx_vnni"},
                                           {"avx512bw,avx512dq,avx512vl", "avx512"},
                                           {"avx512_vnni", "avx512_vnni"},
                                           {"amx_int8", "amx_int8"}});
}

}  // namespace
}  // namespace weir::kernels
