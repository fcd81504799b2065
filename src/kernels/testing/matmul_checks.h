// What the tests of all linear layers share: shapes at the edges of tiles, every form of epilogue, and the checks that
// a variant gives the reference's bits, whatever the split.
//
// A family's `Problem` is made from a Shape, derives from EpilogueInputs and has args() and exact(row, channel).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "kernels/bf16/bf16_rows.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/parallel.h"
#include "kernels/quantize/quantize_rows.h"
#include "kernels/testing/guarded.h"

namespace weir::kernels {

struct Shape {
  std::size_t rows, inputs, channels;
};

inline std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.rows << 'x' << s.inputs << 'x' << s.channels;
}

inline const std::vector<Shape>& edge_shapes() {
  static const std::vector<Shape> shapes = {{0, 64, 16},   {1, 1, 1},     {1, 64, 16},   {2, 63, 17},   {3, 65, 15},
                                            {5, 4, 33},    {6, 128, 64},  {7, 127, 65},  {15, 64, 32},  {16, 64, 31},
                                            {17, 192, 48}, {31, 100, 7},  {32, 384, 96}, {33, 61, 112}, {63, 128, 80},
                                            {65, 256, 31}, {129, 67, 37}, {4, 1536, 16}};
  return shapes;
}

struct Epilogue {
  Activation activation;
  bool residual, layer_norm, fp32, bf16, quantized;
  bool gated = false;
};

inline constexpr Epilogue kEpilogues[] = {
    {Activation::kNone, false, false, true, false, false},
    {Activation::kGeluErf, false, false, false, false, true},
    {Activation::kGeluTanh, false, false, true, true, true},
    {Activation::kSilu, false, false, true, false, false},
    {Activation::kRelu, false, false, true, false, true},
    {Activation::kTanh, true, false, true, false, true},
    {Activation::kNone, true, true, true, true, true},
    {Activation::kNone, true, false, true, false, true},
    {Activation::kNone, true, true, false, false, true},
    {Activation::kNone, false, true, true, false, false},
    {Activation::kGeluErf, false, false, false, true, false},
    {Activation::kGeluErf, false, false, true, true, true, true},
    {Activation::kSilu, false, false, false, false, true, true},
    {Activation::kRelu, false, false, true, false, false, true},
};

/// What the steps after a product read, random and in guarded memory.
struct EpilogueInputs {
  explicit EpilogueInputs(Shape s) : shape(s), residual(s.rows * s.channels), gamma(s.channels), beta(s.channels) {
    std::mt19937 random(static_cast<unsigned>(s.rows * 7 + s.inputs * 31 + s.channels));
    fill_normal(residual, random);
    fill_normal(gamma, random, 0.2f, 1.0f);
    fill_normal(beta, random, 0.2f);
  }
  LayerNormParameters norm() const { return {gamma.data(), beta.data(), 1e-12f}; }

  Shape shape;
  Guarded<float> residual, gamma, beta;
};

/// Everything a call can write.
struct Output {
  /// Gated, a shape of half the channels.
  explicit Output(Shape s)
      : values(s.rows * s.channels),
        bf16(s.rows * padded_bf16_columns(s.channels)),
        bytes(s.rows * padded_columns(s.channels)),
        scale(s.rows) {
    std::fill(bf16.begin(), bf16.end(), std::uint16_t{0xffff});
  }
  Output(const Shape& s, const Epilogue& wanted) : Output(results(s, wanted)) {}
  static Shape results(const Shape& s, const Epilogue& wanted) {
    return {s.rows, s.inputs, wanted.gated ? s.channels / 2 : s.channels};
  }
  void attach(MatmulEpilogue& args, const Shape& shape, const Epilogue& wanted) {
    const Shape s = results(shape, wanted);
    args.out = wanted.fp32 ? values.data() : nullptr;
    args.out_stride = s.channels;
    args.out_bf16 = wanted.bf16 ? bf16.data() : nullptr;
    args.out_bf16_stride = padded_bf16_columns(s.channels);
    args.quantized = wanted.quantized ? bytes.data() : nullptr;
    args.quantized_stride = padded_columns(s.channels);
    args.quantized_scale = scale.data();
  }
  Guarded<float> values;
  Guarded<std::uint16_t> bf16;
  Guarded<std::uint8_t> bytes;
  Guarded<RowScale> scale;
};

inline void expect_same(const Output& expected, const Output& actual, const std::string& what, const Shape& shape) {
  EXPECT_TRUE(same_bits(expected.values, actual.values)) << what << ' ' << shape;
  EXPECT_TRUE(same_bits(expected.bf16, actual.bf16)) << what << ' ' << shape;
  EXPECT_TRUE(same_bits(expected.bytes, actual.bytes)) << what << ' ' << shape;
  EXPECT_TRUE(same_bits(expected.scale, actual.scale)) << what << ' ' << shape;
}

inline void expect_zero_padding(const Output& out, const std::string& what, const Shape& results) {
  const std::size_t stride = padded_bf16_columns(results.channels);
  for (std::size_t i = 0; i < out.bf16.size(); ++i) {
    if (i % stride < results.channels) continue;
    ASSERT_EQ(out.bf16[i], 0) << what << ' ' << results;
  }
}

template <class Args>
void run_alone(const MatmulVariant<Args>& variant, const Args& args) {
  Guarded<float> scratch(matmul_scratch_floats(args));
  variant.run(args, {0, args.rows}, scratch.data());
}

/// The problem's arguments with an epilogue; `norm` must outlive them.
template <class Problem>
auto with_epilogue(const Problem& problem, const Epilogue& epilogue, const LayerNormParameters& norm, Output& out) {
  auto args = problem.args();
  args.activation = epilogue.activation;
  args.gated = epilogue.gated;
  args.residual = epilogue.residual ? problem.residual.data() : nullptr;
  args.residual_stride = problem.shape.channels;
  args.layer_norm = epilogue.layer_norm ? &norm : nullptr;
  out.attach(args, problem.shape, epilogue);
  return args;
}

/// |actual - exact| <= absolute + relative * |exact| for the bare product.
template <class Problem, class Args>
void expect_near_formula(const MatmulVariant<Args>& variant, double absolute, double relative) {
  for (const Shape shape : edge_shapes()) {
    const Problem problem(shape);
    const LayerNormParameters norm = problem.norm();
    Output out(shape);
    run_alone(variant, with_epilogue(problem, {Activation::kNone, false, false, true, false, false}, norm, out));
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const double exact = problem.exact(i / shape.channels, i % shape.channels);
      ASSERT_NEAR(out.values[i], exact, absolute + relative * std::fabs(exact))
          << variant.name << ' ' << shape << " element " << i;
    }
  }
}

/// Gated, each result is what the same layer gives ungated: one half's activation times the other half.
template <class Problem, class Args>
void expect_gate_is_a_product(const MatmulVariant<Args>& variant) {
  for (const Shape shape : {Shape{1, 64, 2}, Shape{7, 64, 34}, Shape{70, 96, 160}}) {
    const Problem problem(shape);
    const LayerNormParameters norm = problem.norm();
    for (const Activation activation : {Activation::kNone, Activation::kGeluErf, Activation::kGeluTanh,
                                        Activation::kSilu, Activation::kRelu, Activation::kTanh}) {
      const Epilogue gated = {activation, false, false, true, false, false, true};
      Output out(shape, gated), active(shape), plain(shape);
      run_alone(variant, with_epilogue(problem, gated, norm, out));
      run_alone(variant, with_epilogue(problem, {activation, false, false, true, false, false}, norm, active));
      run_alone(variant, with_epilogue(problem, {Activation::kNone, false, false, true, false, false}, norm, plain));
      const std::size_t half = shape.channels / 2;
      for (std::size_t i = 0; i < out.values.size(); ++i) {
        const std::size_t first = i / half * shape.channels + i % half;
        ASSERT_EQ(out.values[i], active.values[first] * plain.values[first + half]) << variant.name << ' ' << shape;
      }
    }
  }
}

template <class Problem, class Args>
void expect_bits_of(const MatmulVariant<Args>& reference, const std::vector<const MatmulVariant<Args>*>& variants) {
  for (const Shape shape : edge_shapes()) {
    const Problem problem(shape);
    const LayerNormParameters norm = problem.norm();
    for (const Epilogue& epilogue : kEpilogues) {
      if (epilogue.gated && shape.channels % 2 != 0) continue;
      Output expected(shape, epilogue);
      run_alone(reference, with_epilogue(problem, epilogue, norm, expected));
      if (epilogue.bf16) expect_zero_padding(expected, reference.name, Output::results(shape, epilogue));
      for (const auto* variant : variants) {
        Output actual(shape, epilogue);
        run_alone(*variant, with_epilogue(problem, epilogue, norm, actual));
        expect_same(expected, actual, variant->name, shape);
      }
    }
  }
}

inline const ParallelFor& real_threads() {
  static const ParallelFor threads = [](std::size_t count, const std::function<void(std::size_t)>& task) {
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < count; ++i) running.emplace_back([&task, i] { task(i); });
    for (std::thread& thread : running) thread.join();
  };
  return threads;
}

/// Rows and channels divided among one, two and three threads.
template <class Problem, class Args>
void expect_same_bits_when_split(const std::vector<const MatmulVariant<Args>*>& variants) {
  for (const Shape shape : {Shape{1, 384, 96}, Shape{5, 128, 150}, Shape{100, 64, 80}, Shape{200, 64, 34}}) {
    const Problem problem(shape);
    const LayerNormParameters norm = problem.norm();
    for (const Epilogue& epilogue : kEpilogues) {
      for (const auto* variant : variants) {
        Output expected(shape, epilogue);
        run_alone(*variant, with_epilogue(problem, epilogue, norm, expected));
        for (const std::size_t count : {1, 2, 3}) {
          Output actual(shape, epilogue);
          const auto args = with_epilogue(problem, epilogue, norm, actual);
          Guarded<float> scratch(matmul_parallel_scratch_floats(args, count));
          matmul_parallel(*variant, args, count, real_threads(), scratch.data());
          expect_same(expected, actual, std::string(variant->name) + " threads " + std::to_string(count), shape);
        }
      }
    }
  }
}

/// Each row alone, and in the midst of others, has the bits that it has in the whole.
template <class Problem, class Args>
void expect_same_bits_in_any_batch(const std::vector<const MatmulVariant<Args>*>& variants) {
  const Shape shape = {70, 96, 80};
  const Problem problem(shape);
  const LayerNormParameters norm = problem.norm();
  constexpr Epilogue kEpilogue = {Activation::kNone, true, true, true, true, true};
  for (const auto* variant : variants) {
    Output whole(shape);
    run_alone(*variant, with_epilogue(problem, kEpilogue, norm, whole));
    for (const std::size_t step : {1, 7, 33}) {
      Output parts(shape);
      const auto args = with_epilogue(problem, kEpilogue, norm, parts);
      Guarded<float> scratch(matmul_scratch_floats(args));
      for (std::size_t row = 0; row < shape.rows; row += step) {
        variant->run(args, {row, std::min(row + step, shape.rows)}, scratch.data());
      }
      expect_same(whole, parts, std::string(variant->name) + " rows at a time " + std::to_string(step), shape);
    }
  }
}

/// Weights that are too large for a cache: more rows than any block has, at once and in parts. Not for the portable
/// variants, which take too long.
template <class Problem, class Args>
void expect_same_bits_in_large_blocks(const std::vector<const MatmulVariant<Args>*>& variants) {
  const Shape shape = {520, 512, 2112};
  const Problem problem(shape);
  const LayerNormParameters norm = problem.norm();
  constexpr Epilogue kForms[] = {{Activation::kNone, false, false, true, false, false},
                                 {Activation::kGeluErf, false, false, false, true, false},
                                 {Activation::kNone, false, false, true, false, true},
                                 {Activation::kGeluErf, true, true, true, true, true}};
  for (const auto* variant : variants) {
    if (variant->required.empty()) continue;
    for (const Epilogue& epilogue : kForms) {
      Output whole(shape), parts(shape);
      run_alone(*variant, with_epilogue(problem, epilogue, norm, whole));
      const auto args = with_epilogue(problem, epilogue, norm, parts);
      Guarded<float> scratch(matmul_scratch_floats(args));
      for (std::size_t row = 0; row < shape.rows; row += 100) {
        variant->run(args, {row, std::min(row + 100, shape.rows)}, scratch.data());
      }
      expect_same(whole, parts, variant->name, shape);
    }
  }
}

/// For a problem of three rows whose second one holds a NaN: it reaches all that is computed from that row, only that.
template <class Problem, class Args>
void expect_nan_in_second_row_only(const Problem& problem, const std::vector<const MatmulVariant<Args>*>& variants) {
  const LayerNormParameters norm = problem.norm();
  const std::size_t channels = problem.shape.channels;
  for (const auto* variant : variants) {
    Output out(problem.shape);
    run_alone(*variant, with_epilogue(problem, {Activation::kGeluErf, false, false, true, true, true}, norm, out));
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const bool second = i / channels == 1;
      EXPECT_EQ(std::isnan(out.values[i]), second) << variant->name << " element " << i;
      const std::uint16_t narrow = out.bf16[i / channels * padded_bf16_columns(channels) + i % channels];
      EXPECT_EQ((narrow & 0x7fff) > 0x7f80, second) << variant->name << " element " << i;
    }
    EXPECT_TRUE(std::isnan(out.scale[1].step)) << variant->name;
    EXPECT_FALSE(std::isnan(out.scale[0].step) || std::isnan(out.scale[2].step)) << variant->name;
  }
}

}  // namespace weir::kernels
