// The accuracy of the shared formulas, on the scalar header; that the vector headers give the same bits is what every
// kernel family's variant test shows.
#include "kernels/simd/activation_math.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace weir::kernels {
namespace {

double exact_gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

/// The largest value of error(x, computed) over a grid of [low, high].
template <class Function, class Error>
double worst(Function function, Error error, double low, double high) {
  constexpr int kSteps = 40000;
  double result = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const auto x = static_cast<float>(low + (high - low) * i / kSteps);
    result = std::max(result, error(static_cast<double>(x), static_cast<double>(function(broadcast(x)).lane[3])));
  }
  return result;
}

F32x16 coarse(F32x16 x) {
  F32x16 y[1] = {x};
  gelu_erf_coarse(y);
  return y[0];
}

F32x16 exponential_below_zero(F32x16 x) {
  F32x16 y[1] = {x};
  exponential_of_negative(y);
  return y[0];
}

double relative_to_x(double error, double x) { return std::fabs(error) / std::max(1.0, std::fabs(x)); }

TEST(ActivationMath, Exponential) {
  const auto error = [](double x, double y) { return std::fabs(y / std::exp(x) - 1); };
  EXPECT_LT(worst(exponential, error, -87, 88), 2e-7);
  EXPECT_EQ(exponential(broadcast(0.0f)).lane[0], 1.0f);
  EXPECT_GT(exponential(broadcast(-1e30f)).lane[0], 0.0f);
  EXPECT_TRUE(std::isfinite(exponential(broadcast(1e30f)).lane[0]));
}

TEST(ActivationMath, ExponentialOfNegative) {
  const auto error = [](double x, double y) { return std::fabs(y / std::exp(x) - 1); };
  EXPECT_LT(worst(exponential_below_zero, error, -87, 0), 4e-7);
  EXPECT_EQ(exponential_below_zero(broadcast(0.0f)).lane[0], 1.0f);
  EXPECT_GT(exponential_below_zero(broadcast(-INFINITY)).lane[0], 0.0f);
  EXPECT_TRUE(std::isnan(exponential_below_zero(broadcast(std::nanf(""))).lane[0]));
}

TEST(ActivationMath, GeluErf) {
  const auto error = [](double x, double y) { return relative_to_x(y - exact_gelu(x), x); };
  EXPECT_LT(worst(gelu_erf, error, -40, 40), 1e-6);
}

TEST(ActivationMath, GeluErfCoarse) {
  const auto near = [](double x, double y) { return std::fabs(y - exact_gelu(x)); };
  EXPECT_LT(worst(coarse, near, -6, 6), 2.5e-4);
  const auto far = [](double x, double y) { return std::fabs(y - exact_gelu(x)) / std::fabs(x); };
  EXPECT_LT(worst(coarse, far, 6, 100), 5e-5);
  EXPECT_LT(worst(coarse, far, -100, -6), 5e-5);
}

TEST(ActivationMath, GeluTanh) {
  const auto error = [](double x, double y) {
    const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return relative_to_x(y - 0.5 * x * (1 + std::tanh(u)), x);
  };
  EXPECT_LT(worst(gelu_tanh, error, -40, 40), 1e-6);
}

TEST(ActivationMath, Silu) {
  const auto error = [](double x, double y) { return relative_to_x(y - x / (1 + std::exp(-x)), x); };
  EXPECT_LT(worst(silu, error, -80, 80), 1e-6);
}

TEST(ActivationMath, HyperbolicTangent) {
  const auto error = [](double x, double y) { return std::fabs(y - std::tanh(x)); };
  EXPECT_LT(worst(hyperbolic_tangent, error, -20, 20), 1e-6);
  EXPECT_EQ(hyperbolic_tangent(broadcast(0.0f)).lane[0], 0.0f);
  EXPECT_EQ(hyperbolic_tangent(broadcast(1e30f)).lane[0], 1.0f);
  EXPECT_EQ(hyperbolic_tangent(broadcast(-1e30f)).lane[0], -1.0f);
}

TEST(ActivationMath, NanStaysNan) {
  const F32x16 nan = broadcast(std::nanf(""));
  EXPECT_TRUE(std::isnan(coarse(nan).lane[0]));
  EXPECT_TRUE(std::isnan(exponential(nan).lane[0]));
  EXPECT_TRUE(std::isnan(gelu_erf(nan).lane[0]));
  EXPECT_TRUE(std::isnan(gelu_tanh(nan).lane[0]));
  EXPECT_TRUE(std::isnan(silu(nan).lane[0]));
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(nan).lane[0]));
}

TEST(ActivationMath, RoundingIsToEvenAndSaturatesLikeTheCpu) {
  EXPECT_EQ(round_to_i32(broadcast(2.5f)).lane[0], 2);
  EXPECT_EQ(round_to_i32(broadcast(-3.5f)).lane[0], -4);
  EXPECT_EQ(round_to_i32(broadcast(3e9f)).lane[0], INT32_MIN);
  EXPECT_EQ(round_to_i32(broadcast(std::nanf(""))).lane[0], INT32_MIN);
}

}  // namespace
}  // namespace weir::kernels
