#include "kernels/pooling/pooling.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

constexpr PoolingKind kKinds[] = {PoolingKind::kMean, PoolingKind::kClass, PoolingKind::kMax, PoolingKind::kLast};

struct Problem {
  explicit Problem(std::size_t column_count) : columns(column_count), in(offsets.back() * columns) {
    std::mt19937 random(3);
    fill_normal(in, random);
  }
  Pooling args(PoolingKind kind, bool normalize, float* out) const {
    Pooling a;
    a.in = in.data();
    a.in_stride = a.out_stride = columns;
    a.offsets = offsets.data();
    a.last_text = offsets.size() - 1;
    a.columns = columns;
    a.kind = kind;
    a.normalize = normalize;
    a.out = out;
    return a;
  }
  double exact(PoolingKind kind, std::size_t text, std::size_t c) const {
    const std::size_t begin = offsets[text];
    const std::size_t end = offsets[text + 1];
    if (begin == end) return 0;
    if (kind == PoolingKind::kClass) return in[begin * columns + c];
    if (kind == PoolingKind::kLast) return in[(end - 1) * columns + c];
    double sum = 0;
    double largest = -INFINITY;
    for (std::size_t i = begin; i < end; ++i) {
      sum += in[i * columns + c];
      largest = std::max<double>(largest, in[i * columns + c]);
    }
    return kind == PoolingKind::kMean ? sum / static_cast<double>(end - begin) : largest;
  }
  std::size_t columns;
  std::vector<std::uint32_t> offsets = {0, 1, 1, 8, 40};
  Guarded<float> in;
};

TEST(Pooling, EveryVariantAndKindIsTheFormula) {
  for (const std::size_t columns : {1, 15, 16, 17, 100, 384}) {
    const Problem problem(columns);
    for (const PoolingKind kind : kKinds) {
      for (const bool normalize : {false, true}) {
        Guarded<float> expected(4 * columns);
        choose_pooling({}).run(problem.args(kind, normalize, expected.data()));
        for (std::size_t i = 0; i < expected.size(); ++i) {
          double length = 0;
          for (std::size_t c = 0; c < columns; ++c) length += std::pow(problem.exact(kind, i / columns, c), 2);
          const double divisor = normalize && length > 0 ? std::sqrt(length) : 1.0;
          ASSERT_NEAR(expected[i], problem.exact(kind, i / columns, i % columns) / divisor, 2e-6);
        }
        for (const auto* variant : runnable(pooling_variants())) {
          Guarded<float> actual(4 * columns);
          variant->run(problem.args(kind, normalize, actual.data()));
          EXPECT_TRUE(same_bits(expected, actual)) << variant->name << ' ' << columns;
        }
      }
    }
  }
}

TEST(Pooling, NanIsNotLost) {
  for (const std::size_t row : {8, 20, 39}) {
    Problem problem(17);
    problem.in[row * 17 + 16] = std::nanf("");
    for (const auto* variant : runnable(pooling_variants())) {
      for (const PoolingKind kind : {PoolingKind::kMean, PoolingKind::kMax}) {
        Guarded<float> out(4 * 17);
        variant->run(problem.args(kind, true, out.data()));
        EXPECT_TRUE(std::isnan(out[3 * 17 + 16])) << variant->name << " row " << row;
        EXPECT_FALSE(std::isnan(out[2 * 17 + 16])) << variant->name << " row " << row;
      }
    }
  }
}

TEST(Pooling, ChoiceFollowsTheFeatures) {
  expect_choices_fit(pooling_variants(), choose_pooling);
  report_variants("pooling", pooling_variants());
}

}  // namespace
}  // namespace weir::kernels
