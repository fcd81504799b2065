#include "kernels/attention/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

/// Packed texts with random queries, keys and values.
class Problem {
 public:
  Problem(std::vector<std::size_t> lengths, std::size_t heads, std::size_t head_size, unsigned seed = 1)
      : offsets(lengths.size() + 1), heads_(heads), head_size_(head_size) {
    offsets[0] = 0;
    for (std::size_t t = 0; t < lengths.size(); ++t)
      offsets[t + 1] = offsets[t] + static_cast<std::uint32_t>(lengths[t]);
    longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
    qkv = std::make_unique<Guarded<float>>(tokens() * 3 * hidden());
    std::mt19937 random(seed);
    fill_normal(*qkv, random);
  }
  std::size_t tokens() const { return offsets[offsets.size() - 1]; }
  std::size_t texts() const { return offsets.size() - 1; }
  /// From here on only so many of each text's tokens are attended to.
  void attend_to(const std::vector<std::uint32_t>& counts) {
    keys = std::make_unique<Guarded<std::uint32_t>>(counts.size());
    std::copy(counts.begin(), counts.end(), keys->begin());
  }
  std::size_t keys_of(std::size_t text) const {
    return keys != nullptr ? (*keys)[text] : offsets[text + 1] - offsets[text];
  }
  /// From here on the inputs are given in bf16, rounded; qkv holds their values.
  void narrow() {
    halves = std::make_unique<Guarded<std::uint16_t>>(qkv->size());
    for (std::size_t i = 0; i < halves->size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>((*qkv)[i]);
      (*halves)[i] = static_cast<std::uint16_t>((bits + 0x8000) >> 16);
      (*qkv)[i] = std::bit_cast<float>(std::uint32_t{(*halves)[i]} << 16);
    }
  }
  std::size_t hidden() const { return heads_ * head_size_; }

  Attention args(float* out) const {
    Attention a;
    a.query = qkv->data();
    a.key = qkv->data() + hidden();
    a.value = qkv->data() + 2 * hidden();
    if (halves != nullptr) {
      a.query = a.key = a.value = nullptr;
      a.query_bf16 = halves->data();
      a.key_bf16 = halves->data() + hidden();
      a.value_bf16 = halves->data() + 2 * hidden();
    }
    a.stride = 3 * hidden();
    a.offsets = offsets.data();
    if (keys != nullptr) a.keys = keys->data();
    a.heads = heads_;
    a.head_size = head_size_;
    a.scale = 1.0f / std::sqrt(static_cast<float>(head_size_));
    a.options = options;
    a.out = out;
    a.out_stride = hidden();
    return a;
  }
  void run(const AttentionVariant& variant, Guarded<float>& out) const {
    Guarded<float> scratch(attention_scratch_floats(longest, head_size_, options));
    variant.run(args(out.data()), {0, texts(), 0, heads_}, scratch.data());
  }

  double rotated(const float* x, std::size_t position, std::size_t c) const {
    const std::size_t half = head_size_ / 2;
    if (options.rotary_cos == nullptr) return x[c];
    const double cosine = options.rotary_cos[position * half + c % half];
    const double sine = options.rotary_sin[position * half + c % half];
    return c < half ? x[c] * cosine - x[c + half] * sine : x[c] * cosine + x[c - half] * sine;
  }
  double position_score(std::size_t head, std::size_t i, std::size_t j, const float* q, const float* k) const {
    const auto bucket = static_cast<std::size_t>(options.buckets[options.bucket_reach + i - j]);
    double score = 0;
    for (std::size_t c = 0; c < head_size_; ++c) {
      const std::size_t at = (head * head_size_ + c) * options.position_stride + bucket;
      if (options.position_keys != nullptr) score += static_cast<double>(q[c]) * options.position_keys[at];
      if (options.position_queries != nullptr) score += static_cast<double>(k[c]) * options.position_queries[at];
    }
    return score;
  }
  /// The formula of the header, in double precision.
  void exact(std::size_t text, std::size_t head, std::size_t i, std::vector<double>& out) const {
    const std::size_t first = offsets[text];
    const std::size_t count = keys_of(text);
    const float* q = qkv->data() + (first + i) * 3 * hidden() + head * head_size_;
    std::vector<double> weight(count);
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const auto distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
      const auto apart = static_cast<std::size_t>(std::abs(distance));
      if (options.window != 0 && apart > options.window) continue;
      const float* k = qkv->data() + (first + j) * 3 * hidden() + hidden() + head * head_size_;
      double score = 0;
      for (std::size_t c = 0; c < head_size_; ++c) score += rotated(q, i, c) * rotated(k, j, c);
      if (options.buckets != nullptr) score += position_score(head, i, j, q, k);
      score /= std::sqrt(static_cast<double>(head_size_));
      if (options.relative_bias != nullptr) {
        const auto reach = static_cast<std::ptrdiff_t>(options.relative_reach);
        score += options.relative_bias[head * (2 * options.relative_reach + 1) +
                                       static_cast<std::size_t>(std::clamp(distance, -reach, reach) + reach)];
      }
      if (options.alibi_slopes != nullptr) score -= options.alibi_slopes[head] * static_cast<double>(apart);
      weight[j] = std::exp(score);
      sum += weight[j];
    }
    out.assign(head_size_, 0.0);
    for (std::size_t j = 0; j < count; ++j) {
      const float* v = qkv->data() + (first + j) * 3 * hidden() + 2 * hidden() + head * head_size_;
      for (std::size_t c = 0; c < head_size_; ++c) out[c] += weight[j] / sum * v[c];
    }
  }
  double largest_error(const Guarded<float>& out) const {
    double error = 0;
    std::vector<double> expected;
    for (std::size_t text = 0; text < texts(); ++text) {
      for (std::size_t i = 0; i < offsets[text + 1] - offsets[text]; ++i) {
        for (std::size_t head = 0; head < heads_; ++head) {
          exact(text, head, i, expected);
          const float* actual = out.data() + (offsets[text] + i) * hidden() + head * head_size_;
          for (std::size_t c = 0; c < head_size_; ++c) {
            if (std::isnan(actual[c])) return INFINITY;
            error = std::max(error, std::fabs(actual[c] - expected[c]));
          }
        }
      }
    }
    return error;
  }

  Guarded<std::uint32_t> offsets;
  std::unique_ptr<Guarded<float>> qkv;
  std::unique_ptr<Guarded<std::uint16_t>> halves;
  std::unique_ptr<Guarded<std::uint32_t>> keys;
  AttentionOptions options;
  std::size_t longest = 0;

 private:
  std::size_t heads_, head_size_;
};

double tolerance(const AttentionVariant& variant) {
  return variant.precision == AttentionPrecision::kFp32 ? 2e-6 : 0.03;
}

/// Holds the references, and bf16, to the formula, and all variants in fp32 and in integers to their reference's bits.
void check_all_variants(const Problem& problem, const std::string& what) {
  for (const auto* variant : runnable(attention_variants())) {
    Guarded<float> actual(problem.tokens() * problem.hidden());
    if (problem.options.buckets != nullptr && variant->precision != AttentionPrecision::kFp32) continue;
    problem.run(*variant, actual);
    const AttentionVariant& reference = choose_attention({}, variant->precision);
    if (variant->precision == AttentionPrecision::kBf16 || variant == &reference) {
      EXPECT_LT(problem.largest_error(actual), tolerance(*variant)) << variant->name << ' ' << what;
      continue;
    }
    Guarded<float> expected(problem.tokens() * problem.hidden());
    problem.run(reference, expected);
    EXPECT_TRUE(same_bits(expected, actual)) << variant->name << ' ' << what;
  }
}

TEST(Attention, EveryVariantIsTheFormulaAtEdgeShapes) {
  for (const std::size_t head_size : {1, 8, 16, 24, 32, 33, 64, 80, 128}) {
    const Problem problem({0, 1, 2, 5, 6, 7, 15, 16, 17, 31, 33, 0, 67}, 2, head_size);
    check_all_variants(problem, "head size " + std::to_string(head_size));
  }
  check_all_variants(Problem({300}, 1, 32), "one long text");
  check_all_variants(Problem({}, 3, 32), "no text");
  check_all_variants(Problem({0}, 3, 32), "an empty text");
}

TEST(Attention, OptionsOfOtherFamilies) {
  constexpr std::size_t kHeads = 3;
  constexpr std::size_t kHeadSize = 32;
  constexpr std::size_t kLongest = 131;
  Problem problem({40, 1, 19, kLongest}, kHeads, kHeadSize);
  std::mt19937 random(5);
  Guarded<float> relative(kHeads * 17), slopes(kHeads), cosines(kLongest * kHeadSize / 2), sines(cosines.size());
  fill_normal(relative, random);
  for (std::size_t h = 0; h < kHeads; ++h) slopes[h] = 0.5f / static_cast<float>(h + 1);
  for (std::size_t i = 0; i < cosines.size(); ++i) {
    const double angle = static_cast<double>(i / 16) * std::pow(10000.0, -static_cast<double>(i % 16) / 16);
    cosines[i] = static_cast<float>(std::cos(angle));
    sines[i] = static_cast<float>(std::sin(angle));
  }
  problem.options.relative_bias = relative.data();
  problem.options.relative_reach = 8;
  check_all_variants(problem, "relative bias");
  problem.options = {};
  problem.options.alibi_slopes = slopes.data();
  check_all_variants(problem, "ALiBi");
  problem.options = {};
  problem.options.window = 4;
  check_all_variants(problem, "window");
  problem.options.rotary_cos = cosines.data();
  problem.options.rotary_sin = sines.data();
  check_all_variants(problem, "rotary and window");
  problem.options.window = 64;
  problem.options.relative_bias = relative.data();
  problem.options.relative_reach = 8;
  problem.options.alibi_slopes = slopes.data();
  check_all_variants(problem, "all at once");
  problem.options.window = 200;
  check_all_variants(problem, "a window beyond the text");
}

TEST(Attention, OnlyTheFirstTokensAreAttendedTo) {
  const std::vector<std::size_t> lengths = {0, 1, 2, 32, 32, 70, 131, 600};
  const std::vector<std::uint32_t> keys = {0, 1, 1, 3, 17, 64, 65, 513};
  for (const std::size_t head_size : {8, 24, 32, 64}) {
    Problem problem(lengths, 2, head_size);
    problem.attend_to(keys);
    check_all_variants(problem, "keys, head size " + std::to_string(head_size));
    problem.narrow();
    check_all_variants(problem, "keys of inputs in bf16, head size " + std::to_string(head_size));
  }
  constexpr std::size_t kHeads = 2;
  Problem problem({40, 1, 19, 131}, kHeads, 32);
  problem.attend_to({5, 1, 18, 100});
  std::mt19937 random(6);
  Guarded<float> relative(kHeads * 17), slopes(kHeads);
  fill_normal(relative, random);
  for (std::size_t h = 0; h < kHeads; ++h) slopes[h] = 0.5f / static_cast<float>(h + 1);
  problem.options.relative_bias = relative.data();
  problem.options.relative_reach = 8;
  check_all_variants(problem, "keys and relative bias");
  problem.options.alibi_slopes = slopes.data();
  check_all_variants(problem, "keys and biases");
  problem.options.window = 35;
  check_all_variants(problem, "keys, biases and a window");
}

TEST(Attention, WhatIsNotAttendedToIsAsIfNotThere) {
  constexpr std::uint32_t kKeys = 37;
  Problem longer({50}, 2, 32);
  longer.attend_to({kKeys});
  Problem shorter({kKeys}, 2, 32);
  std::copy_n(longer.qkv->data(), shorter.qkv->size(), shorter.qkv->data());
  for (const auto* variant : runnable(attention_variants())) {
    Guarded<float> all(50 * 64), expected(kKeys * 64), actual(expected.size());
    longer.run(*variant, all);
    shorter.run(*variant, expected);
    std::copy_n(all.data(), actual.size(), actual.data());
    EXPECT_TRUE(same_bits(expected, actual)) << variant->name;
  }
}

TEST(Attention, InputsInBf16GiveTheBitsOfTheirValues) {
  std::mt19937 random(9);
  Guarded<float> cosines(67 * 64), sines(67 * 64);
  fill_normal(cosines, random);
  fill_normal(sines, random);
  for (const bool rotary : {false, true}) {
    for (const std::size_t head_size : {1, 8, 24, 32, 33, 64, 80, 128}) {
      Problem problem({0, 1, 2, 15, 16, 17, 33, 67}, 2, head_size);
      if (rotary) {
        problem.options.rotary_cos = cosines.data();
        problem.options.rotary_sin = sines.data();
      }
      problem.narrow();
      for (const auto* variant : runnable(attention_variants())) {
        Guarded<float> narrow(problem.tokens() * problem.hidden()), wide(narrow.size());
        problem.run(*variant, narrow);
        auto halves = std::move(problem.halves);
        problem.run(*variant, wide);
        problem.halves = std::move(halves);
        EXPECT_TRUE(same_bits(narrow, wide)) << variant->name << " head size " << head_size << " rotary " << rotary;
      }
    }
  }
}

TEST(Attention, ScoresByContentAndPosition) {
  constexpr std::size_t kHeads = 3;
  constexpr std::size_t kReach = 150;
  constexpr std::int32_t kSpan = 24;
  for (const std::size_t head_size : {16, 24, 64}) {
    Problem problem({40, 1, 2, 19, 0, 131}, kHeads, head_size);
    constexpr std::size_t kStride = 2 * kSpan;
    Guarded<float> keys(kHeads * head_size * kStride), queries(keys.size());
    Guarded<std::int32_t> buckets(2 * kReach + 1);
    std::mt19937 random(8);
    fill_normal(keys, random);
    fill_normal(queries, random);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const auto distance = static_cast<std::int32_t>(i) - static_cast<std::int32_t>(kReach);
      const std::int32_t near = std::clamp(distance, -16, 16);
      buckets[i] = std::clamp(near + (distance - near) / 20 + kSpan, 0, 2 * kSpan - 1);
    }
    problem.options.buckets = buckets.data();
    problem.options.bucket_reach = kReach;
    problem.options.position_stride = kStride;
    problem.options.position_keys = keys.data();
    check_all_variants(problem, "by a query and positions");
    problem.options.position_queries = queries.data();
    check_all_variants(problem, "by both");
    problem.options.window = 20;
    check_all_variants(problem, "by both, in a window");
    problem.options.window = 0;
    problem.options.position_keys = nullptr;
    check_all_variants(problem, "by positions and a key");
    problem.attend_to({7, 1, 1, 19, 0, 66});
    check_all_variants(problem, "by positions and a key, of the first keys");
  }
}

TEST(Attention, ATextDoesNotSeeItsBatch) {
  const std::vector<std::size_t> lengths = {3, 50, 17, 128};
  const Problem batch(lengths, 2, 32);
  for (const auto* variant : runnable(attention_variants())) {
    Guarded<float> together(batch.tokens() * batch.hidden());
    batch.run(*variant, together);
    for (std::size_t text = 0; text < batch.texts(); ++text) {
      Guarded<float> alone(together.size());
      std::fill(alone.begin(), alone.end(), 0.0f);
      Guarded<float> scratch(attention_scratch_floats(lengths[text], 32));
      variant->run(batch.args(alone.data()), {text, text + 1, 0, 1}, scratch.data());
      variant->run(batch.args(alone.data()), {text, text + 1, 1, 2}, scratch.data());
      const std::size_t begin = batch.offsets[text] * batch.hidden();
      EXPECT_EQ(std::memcmp(alone.data() + begin, together.data() + begin, lengths[text] * batch.hidden() * 4), 0)
          << variant->name << " text " << text;
    }
  }
}

TEST(Attention, NanStaysInItsText) {
  for (const auto* variant : runnable(attention_variants())) {
    const Problem problem({9, 20, 9}, 1, 32);
    (*problem.qkv)[15 * 96 + 3] = std::nanf("");   // a query of the second text
    (*problem.qkv)[16 * 96 + 40] = std::nanf("");  // a key of it: all its tokens
    Guarded<float> out(problem.tokens() * 32);
    problem.run(*variant, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool second = i / 32 >= 9 && i / 32 < 29;
      EXPECT_EQ(std::isnan(out[i]), second) << variant->name << " token " << i / 32;
    }
  }
}

TEST(Attention, LargeScoresDoNotOverflow) {
  for (const auto* variant : runnable(attention_variants())) {
    const Problem problem({33}, 1, 32);
    for (float& x : *problem.qkv) x *= 100.0f;
    Guarded<float> out(33 * 32);
    problem.run(*variant, out);
    for (const float x : out) ASSERT_TRUE(std::isfinite(x)) << variant->name;
  }
}

std::span<const AttentionVariant> variants_of(AttentionPrecision precision) {
  const std::span<const AttentionVariant> all = attention_variants();
  const auto is_of = [&](const AttentionVariant& variant) { return variant.precision == precision; };
  const auto first = std::find_if(all.begin(), all.end(), is_of);
  return {first, std::find_if_not(first, all.end(), is_of)};
}

TEST(Attention, ManyKeysAreSummedInParts) {
  check_all_variants(Problem({511, 512, 513}, 1, 8), "around one sum");
  check_all_variants(Problem({1300}, 1, 8), "three sums");
  // Largest magnitudes everywhere and weights that are all alike: the sums of integers are as large as they can be.
  const Problem problem({1024}, 1, 32);
  for (std::size_t i = 0; i < problem.qkv->size(); ++i) (*problem.qkv)[i] = i % 96 < 64 ? 0.0f : 3.0f;
  check_all_variants(problem, "the largest sums");
  Problem windowed({1300}, 1, 8);
  windowed.options.window = 700;
  check_all_variants(windowed, "a window across sums");
}

TEST(Attention, RowsOfZerosAndScalesOfAnySign) {
  for (const std::size_t head_size : {20, 32}) {
    const Problem problem({40, 7}, 2, head_size);
    const std::size_t hidden = problem.hidden();
    std::fill_n(problem.qkv->data(), hidden, 0.0f);                                // the first query
    std::fill_n(problem.qkv->data() + 3 * 3 * hidden + hidden, hidden, 0.0f);      // a key
    std::fill_n(problem.qkv->data() + 5 * 3 * hidden + 2 * hidden, hidden, 0.0f);  // a value
    check_all_variants(problem, "rows of zeros");
    std::fill(problem.qkv->begin(), problem.qkv->end(), 0.0f);
    check_all_variants(problem, "all zeros");
  }
  const Problem problem({70}, 1, 32);
  for (const auto* variant : runnable(attention_variants())) {
    Guarded<float> mirrored(70 * 32), expected(70 * 32);
    Guarded<float> scratch(attention_scratch_floats(70, 32));
    Attention args = problem.args(mirrored.data());
    args.scale = -args.scale;
    variant->run(args, {0, 1, 0, 1}, scratch.data());
    for (std::size_t token = 0; token < 70; ++token) {
      for (std::size_t c = 0; c < 32; ++c) (*problem.qkv)[token * 96 + c] *= -1.0f;
    }
    problem.run(*variant, expected);
    for (std::size_t token = 0; token < 70; ++token) {
      for (std::size_t c = 0; c < 32; ++c) (*problem.qkv)[token * 96 + c] *= -1.0f;
    }
    EXPECT_TRUE(same_bits(expected, mirrored)) << variant->name;
  }
}

TEST(Attention, InfinityIsNoticed) {
  for (const auto* variant : runnable(variants_of(AttentionPrecision::kInt8))) {
    for (const std::size_t column : {3, 40, 70}) {  // a query, a key, a value
      const Problem problem({20}, 1, 32);
      (*problem.qkv)[15 * 96 + column] = INFINITY;
      Guarded<float> out(20 * 32);
      problem.run(*variant, out);
      EXPECT_TRUE(std::isnan(out[15 * 32])) << variant->name << " column " << column;
    }
  }
}

TEST(Attention, ChoiceFollowsFeaturesAndPrecision) {
  for (const auto precision : {AttentionPrecision::kInt8, AttentionPrecision::kFp32}) {
    expect_choices_fit(variants_of(precision),
                       [&](cpu::Features f) -> const AttentionVariant& { return choose_attention(f, precision); });
  }
  EXPECT_STREQ(choose_attention(kNeedsAmxBf16, AttentionPrecision::kBf16).name, "amx_bf16");
  EXPECT_STREQ(choose_attention(kNeedsAvx512, AttentionPrecision::kBf16).name, "avx512");
  report_variants("attention", attention_variants());
}

}  // namespace
}  // namespace weir::kernels
