#include "kernels/matmul_f32/matmul_f32.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/testing/matmul_checks.h"

namespace weir::kernels {
namespace {

/// Random weights and activations of a shape, in guarded memory.
class Problem : public EpilogueInputs {
 public:
  explicit Problem(Shape s)
      : EpilogueInputs(s),
        activations(s.rows * s.inputs),
        weights(s.inputs * s.channels),
        bias(s.channels),
        values_(packed().panels() * packed().panel_size()),
        bias_(packed().padded_channels()) {
    std::mt19937 random(static_cast<unsigned>(s.rows * 13 + s.inputs * 5 + s.channels));
    for (Guarded<float>* range : {&activations, &weights, &bias}) fill_normal(*range, random, 0.3f);
    pack_weights_f32(weights.data(), bias.data(), s.inputs, s.channels, values_.data(), bias_.data());
  }

  PackedWeightsF32 packed() const { return {shape.inputs, shape.channels, values_.data(), bias_.data()}; }
  MatmulF32 args() const {
    MatmulF32 a;
    a.activations = activations.data();
    a.activation_stride = shape.inputs;
    a.rows = shape.rows;
    a.weights = packed();
    return a;
  }
  double exact(std::size_t row, std::size_t channel) const {
    double sum = bias[channel];
    for (std::size_t k = 0; k < shape.inputs; ++k) {
      sum += static_cast<double>(activations[row * shape.inputs + k]) * weights[channel * shape.inputs + k];
    }
    return sum;
  }

  Guarded<float> activations, weights, bias;

 private:
  Guarded<float> values_, bias_;
};

TEST(MatmulF32, EveryVariantIsNearTheFormula) {
  for (const auto* variant : runnable(matmul_f32_variants())) expect_near_formula<Problem>(*variant, 2e-5, 1e-5);
}

TEST(MatmulF32, EveryVariantAndEpilogueGivesTheSameBits) {
  expect_bits_of<Problem>(choose_matmul_f32(kNeedsNothing), runnable(matmul_f32_variants()));
}

TEST(MatmulF32, AGateMultipliesHalves) { expect_gate_is_a_product<Problem>(choose_matmul_f32(kNeedsNothing)); }

TEST(MatmulF32, RowAndChannelSplitsGiveTheSameBits) {
  expect_same_bits_when_split<Problem>(runnable(matmul_f32_variants()));
}

TEST(MatmulF32, ARowDoesNotSeeItsBatch) { expect_same_bits_in_any_batch<Problem>(runnable(matmul_f32_variants())); }

TEST(MatmulF32, NanIsPassedOnAndStaysInItsRow) {
  Problem problem({3, 64, 20});
  problem.activations[64 + 5] = std::nanf("");
  expect_nan_in_second_row_only(problem, runnable(matmul_f32_variants()));
}

TEST(MatmulF32, ChoiceFollowsTheFeatures) {
  expect_choices_fit(matmul_f32_variants(), choose_matmul_f32);
  report_variants("matmul_f32", matmul_f32_variants());
}

TEST(MatmulF32, TheForcedIsaIsTheOneChosen) {
  expect_forced_choices(choose_matmul_f32,
                        {{"scalar", "portable"}, {"avx2", "avx2"}, {"avx512bw,avx512dq,avx512vl", "avx512"}});
}

}  // namespace
}  // namespace weir::kernels
