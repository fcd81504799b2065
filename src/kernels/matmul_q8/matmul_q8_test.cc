#include "kernels/matmul_q8/matmul_q8.h"

#include <cmath>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "kernels/matmul_q8/pack.h"
#include "kernels/matmul_q8/parallel.h"
#include "kernels/quantize/quantize_rows.h"
#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

struct Shape {
  std::size_t rows, inputs, channels;
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.rows << 'x' << s.inputs << 'x' << s.channels;
}

/// Random weights and activations of a shape, in guarded memory.
class Problem {
 public:
  explicit Problem(Shape s)
      : shape(s),
        activations(s.rows * padded_columns(s.inputs)),
        activation_scale(s.rows),
        plain_weights(s.inputs * s.channels),
        plain_bias(s.channels),
        residual(s.rows * s.channels),
        gamma(s.channels),
        beta(s.channels),
        values_(packed().panels() * packed().panel_bytes()),
        correction_(packed().padded_channels()),
        scale_(packed().padded_channels()),
        bias_(packed().padded_channels()) {
    std::mt19937 random(static_cast<unsigned>(s.rows * 31 + s.inputs * 7 + s.channels));
    Guarded<float> in(s.rows * s.inputs);
    fill_normal(in, random, 2.0f);
    fill_normal(plain_weights, random, 0.05f);
    fill_normal(plain_bias, random, 0.3f);
    fill_normal(residual, random);
    fill_normal(gamma, random, 0.2f, 1.0f);
    fill_normal(beta, random, 0.2f);
    choose_quantize_rows(kNeedsNothing)
        .run({in.data(), s.inputs, s.rows, s.inputs, activations.data(), padded_columns(s.inputs),
              activation_scale.data()});
    pack_weights_q8(plain_weights.data(), plain_bias.data(), s.inputs, s.channels,
                    {values_.data(), correction_.data(), scale_.data(), bias_.data()});
  }

  PackedWeightsQ8 packed() const {
    return {shape.inputs, shape.channels, values_.data(), correction_.data(), scale_.data(), bias_.data()};
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
      sum += (activations[row * padded_columns(shape.inputs) + k] - 128.0) * weight;
    }
    return sum * activation_scale[row] * scale_[channel] + plain_bias[channel];
  }

  Shape shape;
  Guarded<std::uint8_t> activations;
  Guarded<float> activation_scale, plain_weights, plain_bias, residual, gamma, beta;

 private:
  Guarded<std::int8_t> values_;
  Guarded<std::int32_t> correction_;
  Guarded<float> scale_, bias_;
};

/// Everything a call can write.
struct Output {
  explicit Output(Shape s) : values(s.rows * s.channels), bytes(s.rows * padded_columns(s.channels)), scale(s.rows) {}
  void attach(MatmulQ8& args, bool fp32, bool quantized) {
    args.out = fp32 ? values.data() : nullptr;
    args.out_stride = args.weights.channels;
    args.quantized = quantized ? bytes.data() : nullptr;
    args.quantized_stride = padded_columns(args.weights.channels);
    args.quantized_scale = scale.data();
  }
  Guarded<float> values;
  Guarded<std::uint8_t> bytes;
  Guarded<float> scale;
};

void run_alone(const MatmulQ8Variant& variant, const MatmulQ8& args) {
  Guarded<float> scratch(matmul_q8_scratch_floats(args));
  variant.run(args, {0, args.rows}, scratch.data());
}

const std::vector<Shape>& edge_shapes() {
  static const std::vector<Shape> shapes = {{0, 64, 16},   {1, 1, 1},     {1, 64, 16},   {2, 63, 17},   {3, 65, 15},
                                            {5, 4, 33},    {6, 128, 64},  {7, 127, 65},  {15, 64, 32},  {16, 64, 31},
                                            {17, 192, 48}, {31, 100, 7},  {32, 384, 96}, {33, 61, 112}, {63, 128, 80},
                                            {65, 256, 31}, {129, 67, 37}, {4, 1536, 16}};
  return shapes;
}

TEST(MatmulQ8, TheReferenceIsTheFormula) {
  for (const Shape shape : edge_shapes()) {
    const Problem problem(shape);
    MatmulQ8 args = problem.args();
    Output out(shape);
    out.attach(args, true, false);
    run_alone(choose_matmul_q8(kNeedsNothing), args);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const double exact = problem.exact(i / shape.channels, i % shape.channels);
      ASSERT_NEAR(out.values[i], exact, 1e-5 + 1e-6 * std::fabs(exact)) << shape << " element " << i;
    }
  }
}

struct Epilogue {
  Activation activation;
  bool residual, layer_norm, fp32, quantized;
};

constexpr Epilogue kEpilogues[] = {
    {Activation::kNone, false, false, true, false},    {Activation::kGeluErf, false, false, false, true},
    {Activation::kGeluTanh, false, false, true, true}, {Activation::kSilu, false, false, true, false},
    {Activation::kRelu, false, false, true, true},     {Activation::kNone, true, true, true, true},
    {Activation::kNone, true, false, true, true},      {Activation::kNone, true, true, false, true},
    {Activation::kNone, false, true, true, false},
};

MatmulQ8 with_epilogue(const Problem& problem, const Epilogue& epilogue, const LayerNormParameters& norm, Output& out) {
  MatmulQ8 args = problem.args();
  args.activation = epilogue.activation;
  args.residual = epilogue.residual ? problem.residual.data() : nullptr;
  args.residual_stride = problem.shape.channels;
  args.layer_norm = epilogue.layer_norm ? &norm : nullptr;
  out.attach(args, epilogue.fp32, epilogue.quantized);
  return args;
}

void expect_same(const Output& expected, const Output& actual, const std::string& what, const Shape& shape) {
  EXPECT_TRUE(same_bits(expected.values, actual.values)) << what << ' ' << shape;
  EXPECT_TRUE(same_bits(expected.bytes, actual.bytes)) << what << ' ' << shape;
  EXPECT_TRUE(same_bits(expected.scale, actual.scale)) << what << ' ' << shape;
}

TEST(MatmulQ8, EveryVariantAndEpilogueGivesTheSameBits) {
  for (const Shape shape : edge_shapes()) {
    const Problem problem(shape);
    const LayerNormParameters norm = {problem.gamma.data(), problem.beta.data(), 1e-12f};
    for (const Epilogue& epilogue : kEpilogues) {
      Output expected(shape);
      run_alone(choose_matmul_q8(kNeedsNothing), with_epilogue(problem, epilogue, norm, expected));
      for (const auto* variant : runnable(matmul_q8_variants())) {
        Output actual(shape);
        run_alone(*variant, with_epilogue(problem, epilogue, norm, actual));
        expect_same(expected, actual, variant->name, shape);
      }
    }
  }
}

TEST(MatmulQ8, FusedStepsAreTheSeparateOnes) {
  const Shape shape = {9, 128, 70};
  const Problem problem(shape);
  const LayerNormParameters norm = {problem.gamma.data(), problem.beta.data(), 1e-12f};
  Output separate(shape);
  MatmulQ8 plain = problem.args();
  separate.attach(plain, true, false);
  run_alone(choose_matmul_q8(kNeedsNothing), plain);
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
            with_epilogue(problem, {Activation::kNone, true, true, true, true}, norm, fused));
  expect_same(separate, fused, "fused", shape);
}

TEST(MatmulQ8, RowAndChannelSplitsGiveTheSameBits) {
  const ParallelFor threads = [](std::size_t count, const std::function<void(std::size_t)>& task) {
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < count; ++i) running.emplace_back([&task, i] { task(i); });
    for (std::thread& thread : running) thread.join();
  };
  for (const Shape shape : {Shape{1, 384, 96}, Shape{5, 128, 49}, Shape{100, 64, 80}, Shape{200, 64, 33}}) {
    const Problem problem(shape);
    const LayerNormParameters norm = {problem.gamma.data(), problem.beta.data(), 1e-12f};
    for (const Epilogue& epilogue : kEpilogues) {
      for (const auto* variant : runnable(matmul_q8_variants())) {
        Output expected(shape);
        run_alone(*variant, with_epilogue(problem, epilogue, norm, expected));
        for (const std::size_t count : {1, 2, 3}) {
          Output actual(shape);
          const MatmulQ8 args = with_epilogue(problem, epilogue, norm, actual);
          Guarded<float> scratch(matmul_q8_parallel_scratch_floats(args, count));
          matmul_q8_parallel(*variant, args, count, threads, scratch.data());
          expect_same(expected, actual, std::string(variant->name) + " threads " + std::to_string(count), shape);
        }
      }
    }
  }
}

TEST(MatmulQ8, ExtremeValuesDoNotSaturate) {
  constexpr std::size_t kInputs = 4096;
  Guarded<std::uint8_t> activations(kInputs);
  std::memset(activations.data(), 255, kInputs);
  std::vector<std::int8_t> weights(kInputs * 16, 127);
  const std::vector<float> weight_scale(16, 1.0f);
  std::vector<std::int8_t> values(kInputs * 16);
  std::vector<std::int32_t> correction(16);
  std::vector<float> scale(16), bias(16);
  pack_quantized_weights_q8(weights.data(), weight_scale.data(), nullptr, kInputs, 16,
                            {values.data(), correction.data(), scale.data(), bias.data()});
  const float one = 1.0f;
  MatmulQ8 args;
  args.activations = activations.data();
  args.activation_stride = kInputs;
  args.activation_scale = &one;
  args.rows = 1;
  args.weights = {kInputs, 16, values.data(), correction.data(), scale.data(), bias.data()};
  for (const auto* variant : runnable(matmul_q8_variants())) {
    Guarded<float> out(16);
    args.out = out.data();
    args.out_stride = 16;
    run_alone(*variant, args);
    for (const float value : out) EXPECT_EQ(value, 127.0f * 127.0f * kInputs) << variant->name;
  }
}

TEST(MatmulQ8, NanIsPassedOnAndStaysInItsRow) {
  const Shape shape = {3, 64, 20};
  Problem problem(shape);
  problem.activation_scale[1] = std::nanf("");
  for (const auto* variant : runnable(matmul_q8_variants())) {
    MatmulQ8 args = problem.args();
    args.activation = Activation::kGeluErf;
    Output out(shape);
    out.attach(args, true, true);
    run_alone(*variant, args);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      EXPECT_EQ(std::isnan(out.values[i]), i / shape.channels == 1) << variant->name << " element " << i;
    }
    EXPECT_TRUE(std::isnan(out.scale[1])) << variant->name;
    EXPECT_FALSE(std::isnan(out.scale[0]) || std::isnan(out.scale[2])) << variant->name;
  }
}

TEST(MatmulQ8, NanWeightsMakeTheirChannelNan) {
  const std::vector<float> weights = {1.0f, 2.0f, std::nanf(""), 1.0f};
  std::vector<std::int8_t> values(64 * 16);
  std::vector<std::int32_t> correction(16);
  std::vector<float> scale(16), bias(16);
  pack_weights_q8(weights.data(), nullptr, 2, 2, {values.data(), correction.data(), scale.data(), bias.data()});
  EXPECT_EQ(scale[0], 2.0f / 127.0f);
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
  constexpr std::pair<std::string_view, std::string_view> kForced[] = {
      {"scalar", "portable"},         {"avx2", "avx2"},
      {"avx_vnni", "avx_vnni"},       {"avx512bw,avx512dq,avx512vl", "avx512"},
      {"avx512_vnni", "avx512_vnni"}, {"amx_int8", "amx_int8"}};
  for (const auto& [forced, expected] : kForced) {
    const auto features = cpu::restrict_features(forced, cpu::detected());
    if (!features.ok()) continue;
    EXPECT_EQ(choose_matmul_q8(*features).name, expected) << forced;
  }
}

}  // namespace
}  // namespace weir::kernels
