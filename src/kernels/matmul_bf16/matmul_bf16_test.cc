#include "kernels/matmul_bf16/matmul_bf16.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/testing/matmul_checks.h"

namespace weir::kernels {
namespace {

double value_of(std::uint16_t bf16) { return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16); }

/// Random weights and activations of a shape, in guarded memory.
class Problem : public EpilogueInputs {
 public:
  explicit Problem(Shape s)
      : EpilogueInputs(s),
        activations(s.rows * padded_bf16_columns(s.inputs)),
        values_(packed().panels() * packed().panel_size()),
        bias_(packed().padded_channels()) {
    std::mt19937 random(static_cast<unsigned>(s.rows * 31 + s.inputs * 7 + s.channels));
    Guarded<float> in(s.rows * s.inputs), weights(s.inputs * s.channels), bias(s.channels);
    fill_normal(in, random, 2.0f);
    fill_normal(weights, random, 0.05f);
    fill_normal(bias, random, 0.3f);
    choose_bf16_rows(kNeedsNothing)
        .run({in.data(), s.inputs, s.rows, s.inputs, activations.data(), padded_bf16_columns(s.inputs)});
    pack_weights_bf16(weights.data(), bias.data(), s.inputs, s.channels, values_.data(), bias_.data());
  }

  PackedWeightsBf16 packed() const { return {shape.inputs, shape.channels, values_.data(), bias_.data()}; }
  MatmulBf16 args() const {
    MatmulBf16 a;
    a.activations = activations.data();
    a.activation_stride = padded_bf16_columns(shape.inputs);
    a.rows = shape.rows;
    a.weights = packed();
    return a;
  }
  double exact(std::size_t row, std::size_t channel) const {
    double sum = bias_[channel];
    for (std::size_t k = 0; k < shape.inputs; ++k) {
      const std::size_t at = (channel / 16 * (packed().padded_inputs() / 2) + k / 2) * 32 + channel % 16 * 2 + k % 2;
      sum += value_of(activations[row * padded_bf16_columns(shape.inputs) + k]) * value_of(values_[at]);
    }
    return sum;
  }

  Guarded<std::uint16_t> activations;

 private:
  Guarded<std::uint16_t> values_;
  Guarded<float> bias_;
};

/// The variants that this machine can run and that are of the consistent class.
std::vector<const MatmulBf16Variant*> consistent() {
  std::vector<const MatmulBf16Variant*> result;
  for (const auto* variant : runnable(matmul_bf16_variants())) {
    if (!variant->required.has(cpu::Feature::kAmxBf16)) result.push_back(variant);
  }
  return result;
}

TEST(MatmulBf16, EveryVariantIsNearTheFormula) {
  for (const auto* variant : runnable(matmul_bf16_variants())) expect_near_formula<Problem>(*variant, 2e-5, 1e-5);
}

TEST(MatmulBf16, EveryVariantButAmxGivesTheSameBits) {
  expect_bits_of<Problem>(choose_matmul_bf16(kNeedsNothing), consistent());
}

TEST(MatmulBf16, AGateMultipliesHalves) { expect_gate_is_a_product<Problem>(choose_matmul_bf16(kNeedsNothing)); }

TEST(MatmulBf16, RowAndChannelSplitsGiveTheSameBits) {
  expect_same_bits_when_split<Problem>(runnable(matmul_bf16_variants()));
}

TEST(MatmulBf16, ARowDoesNotSeeItsBatch) { expect_same_bits_in_any_batch<Problem>(runnable(matmul_bf16_variants())); }

TEST(MatmulBf16, LargeBlocks) { expect_same_bits_in_large_blocks<Problem>(runnable(matmul_bf16_variants())); }

TEST(MatmulBf16, NanIsPassedOnAndStaysInItsRow) {
  const Shape shape = {3, 64, 20};
  Problem problem(shape);
  problem.activations[1 * padded_bf16_columns(64) + 5] = 0x7fc0;
  expect_nan_in_second_row_only(problem, runnable(matmul_bf16_variants()));
}

TEST(MatmulBf16, ChoiceFollowsTheFeatures) {
  expect_choices_fit(matmul_bf16_variants(), choose_matmul_bf16);
  report_variants("matmul_bf16", matmul_bf16_variants());
}

TEST(MatmulBf16, TheForcedIsaIsTheOneChosen) {
  expect_forced_choices(choose_matmul_bf16, {{"scalar", "portable"},
                                             {"avx2", "avx2"},
                                             {"avx512bw,avx512dq,avx512vl", "avx512"},
                                             {"avx512_bf16", "avx512_bf16"},
                                             {"avx512_bf16,amx_bf16", "amx_bf16"}});
}

}  // namespace
}  // namespace weir::kernels
