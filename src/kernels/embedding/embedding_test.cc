#include "kernels/embedding/embedding.h"

#include <gtest/gtest.h>

#include "kernels/quantize/quantize_rows.h"
#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kVocabulary = 50;
constexpr std::size_t kPositions = 20;

struct Problem {
  explicit Problem(std::size_t column_count)
      : columns(column_count),
        words(kVocabulary * columns),
        positions(kPositions * columns),
        segments(2 * columns),
        gamma(columns),
        beta(columns) {
    std::mt19937 random(static_cast<unsigned>(columns));
    for (auto* table : {&words, &positions, &segments, &beta}) fill_normal(*table, random);
    fill_normal(gamma, random, 0.1f, 1.0f);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(random() % kVocabulary);
  }
  Embedding args(float* out) {
    Embedding a;
    a.ids = ids.data();
    a.offsets = offsets.data();
    a.last_text = offsets.size() - 1;
    a.columns = columns;
    a.tables = {words.data(), positions.data(), segments.data(), 2, {gamma.data(), beta.data(), 1e-12f}};
    a.out = out;
    a.out_stride = columns;
    return a;
  }
  std::size_t columns;
  Guarded<float> words, positions, segments, gamma, beta;
  std::vector<std::uint32_t> offsets = {0, 3, 3, 4, 22};
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(22);
};

TEST(Embedding, EveryVariantGivesTheSumThroughLayerNorm) {
  for (const std::size_t columns : {1, 17, 384}) {
    Problem problem(columns);
    Guarded<float> sums(22 * columns), expected(22 * columns);
    for (std::size_t text = 0; text + 1 < problem.offsets.size(); ++text) {
      for (std::size_t i = problem.offsets[text]; i < problem.offsets[text + 1]; ++i) {
        const std::size_t position = i - problem.offsets[text] + 2;
        for (std::size_t c = 0; c < columns; ++c) {
          sums[i * columns + c] = problem.words[static_cast<std::size_t>(problem.ids[i]) * columns + c] +
                                  problem.positions[position * columns + c] + problem.segments[c];
        }
      }
    }
    LayerNorm norm;
    norm.in = sums.data();
    norm.in_stride = norm.out_stride = columns;
    norm.rows = 22;
    norm.columns = columns;
    norm.parameters = {problem.gamma.data(), problem.beta.data(), 1e-12f};
    norm.out = expected.data();
    choose_layer_norm({}).run(norm);
    for (const auto* variant : runnable(embedding_variants())) {
      Guarded<float> actual(22 * columns);
      variant->run(problem.args(actual.data()));
      EXPECT_TRUE(same_bits(expected, actual)) << variant->name << ' ' << columns;
    }
  }
}

TEST(Embedding, SegmentsAndQuantizedRows) {
  Problem problem(33);
  std::vector<std::int32_t> segment_ids(22, 1);
  for (const auto* variant : runnable(embedding_variants())) {
    Guarded<float> plain(22 * 33), other_segment(22 * 33);
    Guarded<RowScale> scale(22);
    Guarded<std::uint8_t> bytes(22 * padded_columns(33)), expected(22 * padded_columns(33));
    variant->run(problem.args(plain.data()));
    Embedding args = problem.args(other_segment.data());
    args.segment_ids = segment_ids.data();
    args.quantized = bytes.data();
    args.quantized_stride = padded_columns(33);
    args.quantized_scale = scale.data();
    variant->run(args);
    EXPECT_FALSE(same_bits(plain, other_segment)) << variant->name;
    choose_quantize_rows({}).run({other_segment.data(), 33, 22, 33, expected.data(), padded_columns(33), scale.data()});
    EXPECT_TRUE(same_bits(expected, bytes)) << variant->name;
  }
}

TEST(Embedding, WithoutNormItIsTheSum) {
  constexpr std::size_t kColumns = 33;
  Problem problem(kColumns);
  for (const auto* variant : runnable(embedding_variants())) {
    Guarded<float> out(22 * kColumns);
    Guarded<RowScale> scale(22), expected_scale(22);
    Guarded<std::uint8_t> bytes(22 * padded_columns(kColumns)), expected(bytes.size());
    Embedding args = problem.args(out.data());
    args.tables.layer_norm = {};
    args.quantized = bytes.data();
    args.quantized_stride = padded_columns(kColumns);
    args.quantized_scale = scale.data();
    variant->run(args);
    for (std::size_t c = 0; c < kColumns; ++c) {  // token 4 is the first of its text, at position 2
      const float word = problem.words[static_cast<std::size_t>(problem.ids[4]) * kColumns + c];
      EXPECT_EQ(out[4 * kColumns + c], word + problem.positions[2 * kColumns + c] + problem.segments[c]);
    }
    choose_quantize_rows({}).run(
        {out.data(), kColumns, 22, kColumns, expected.data(), padded_columns(kColumns), expected_scale.data()});
    EXPECT_TRUE(same_bits(expected, bytes)) << variant->name;
    EXPECT_TRUE(same_bits(expected_scale, scale)) << variant->name;
  }
}

TEST(Embedding, ChoiceFollowsTheFeatures) {
  expect_choices_fit(embedding_variants(), choose_embedding);
  report_variants("embedding", embedding_variants());
}

}  // namespace
}  // namespace weir::kernels
