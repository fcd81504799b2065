// What the attention variants share: one text and head at a time, rotation, biases and softmax; see attention.h.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/simd/activation_math.h"
#include "kernels/simd/f32x16.h"
#include "kernels/simd/row.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

template <class Number>
struct RowsOf {
  const Number* data;
  std::size_t stride;
  const Number* row(std::size_t i) const { return data + i * stride; }
};
using Rows = RowsOf<float>;

struct MutableRows {
  float* data;
  std::size_t stride;
  float* row(std::size_t i) const { return data + i * stride; }
};

inline F32x16 from_bf16(I32x16 halves) { return from_bits(shift_left<16>(halves)); }

/// Rows of queries, keys or values as the caller has them.
struct InputRows {
  const float* fp32;
  const std::uint16_t* bf16;  ///< null: the rows are in fp32
  std::size_t stride;

  InputRows from(std::size_t offset) const {
    return bf16 == nullptr ? InputRows{fp32 + offset, nullptr, stride} : InputRows{nullptr, bf16 + offset, stride};
  }
  /// Sixteen columns of row i from column c on.
  F32x16 vector(std::size_t i, std::size_t c) const {
    const std::size_t at = i * stride + c;
    return bf16 == nullptr ? load(fp32 + at) : from_bf16(load_u16(bf16 + at));
  }
  /// The first `n` of them, then zeros.
  F32x16 vector_first(std::size_t i, std::size_t c, int n) const {
    const std::size_t at = i * stride + c;
    return bf16 == nullptr ? load_first(fp32 + at, n) : from_bf16(load_u16_first(bf16 + at, n));
  }
};

/// One text and head.
struct HeadView {
  InputRows query, key, value;
  float* out;
  std::size_t out_stride;
  std::size_t tokens;
  std::size_t keys;  ///< The first tokens: those that are attended to.
  std::size_t head_size;
  std::size_t head;
};

inline bool has_bias(const AttentionOptions& options) {
  return options.relative_bias != nullptr || options.alibi_slopes != nullptr;
}

inline HeadView head_view(const Attention& args, std::size_t text, std::size_t head) {
  const std::size_t first = args.offsets[text];
  const std::size_t tokens = args.offsets[text + 1] - first;
  const std::size_t in = first * args.stride + head * args.head_size;
  return {InputRows{args.query, args.query_bf16, args.stride}.from(in),
          InputRows{args.key, args.key_bf16, args.stride}.from(in),
          InputRows{args.value, args.value_bf16, args.stride}.from(in),
          args.out + first * args.out_stride + head * args.head_size,
          args.out_stride,
          tokens,
          args.keys == nullptr ? tokens : args.keys[text],
          args.head_size,
          head};
}

/// Rotates the rows of one text and head into `out` [tokens][head_size].
inline InputRows rotate(const InputRows& in, const HeadView& view, const AttentionOptions& options, float* out) {
  const std::size_t half = view.head_size / 2;
  float* row = out;
  for (std::size_t i = 0; i < view.tokens; ++i, row += view.head_size) {
    const float* cosines = options.rotary_cos + i * half;
    const float* sines = options.rotary_sin + i * half;
    for_each_vector(half, [&](std::size_t c, int lanes) WEIR_INLINED {
      const F32x16 low = in.vector_first(i, c, lanes);
      const F32x16 high = in.vector_first(i, c + half, lanes);
      const F32x16 cosine = load_lanes(cosines + c, lanes);
      const F32x16 sine = load_lanes(sines + c, lanes);
      store_lanes(row + c, sub(mul(low, cosine), mul(high, sine)), lanes);
      store_lanes(row + c + half, add(mul(high, cosine), mul(low, sine)), lanes);
    });
  }
  return {out, nullptr, view.head_size};
}

/// Replaces query and key by rotated copies, if the options ask for it; returns the scratch that is left.
inline float* apply_rotation(HeadView& view, const AttentionOptions& options, float* scratch) {
  if (options.rotary_cos == nullptr) return scratch;
  const std::size_t floats = view.tokens * view.head_size;
  view.query = rotate(view.query, view, options, scratch);
  view.key = rotate(view.key, view, options, scratch + floats);
  return scratch + 2 * floats;
}

/// Keys begin .. end of a text. A row of scores has one for each, the first for `begin`, a multiple of 16.
struct KeyRange {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};

/// Those of `keys` that token i sees.
inline KeyRange visible_keys(const AttentionOptions& options, std::size_t i, std::size_t keys) {
  if (options.window == 0) return {0, keys};
  const std::size_t begin = i > options.window ? i - options.window : 0;
  const std::size_t end = i + options.window + 1;
  return {begin, end < keys ? end : keys};
}

/// All that tokens first .. last - 1 see. Weights before it would be 0: the sums that leave them out are the same.
inline KeyRange keys_of_rows(const AttentionOptions& options, std::size_t first, std::size_t last, std::size_t keys) {
  const std::size_t begin = visible_keys(options, first, keys).begin;
  return {begin / kLanes * kLanes, visible_keys(options, last - 1, keys).end};
}

inline std::size_t clamp_to(const KeyRange& keys, std::size_t j) {
  return j < keys.begin ? keys.begin : j > keys.end ? keys.end : j;
}

/// Adds to a row of scores what the distance between query i and each key adds: one value on either side of the reach,
/// and the table between.
inline void add_relative_bias(const AttentionOptions& options, std::size_t head, std::size_t i, const KeyRange& keys,
                              float* scores) {
  const std::size_t reach = options.relative_reach;
  const float* table = options.relative_bias + head * (2 * reach + 1);
  const std::size_t near = clamp_to(keys, i > reach ? i - reach : 0);
  const std::size_t far = clamp_to(keys, i + reach + 1);
  const auto add_to = [&](std::size_t begin, std::size_t end, auto bias) {
    for_each_vector(end - begin, [&](std::size_t c, int lanes) WEIR_INLINED {
      float* at = scores + (begin - keys.begin) + c;
      store_lanes(at, add(load_lanes(at, lanes), bias(c, lanes)), lanes);
    });
  };
  add_to(keys.begin, near, [&](std::size_t, int) { return broadcast(table[0]); });
  add_to(near, far, [&](std::size_t c, int lanes) { return load_lanes(table + (near + reach - i) + c, lanes); });
  add_to(far, keys.end, [&](std::size_t, int) { return broadcast(table[2 * reach]); });
}

/// Distances are whole numbers far below 2^24: exact.
inline void add_alibi(float slope, std::size_t i, const KeyRange& keys, float* scores) {
  alignas(64) constexpr float kOrder[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const F32x16 order = load(kOrder);
  const F32x16 factor = broadcast(slope);
  for_each_vector(keys.size(), [&](std::size_t c, int lanes) WEIR_INLINED {
    const auto first = static_cast<float>(static_cast<std::ptrdiff_t>(keys.begin + c) - static_cast<std::ptrdiff_t>(i));
    const F32x16 distance = absolute(add(broadcast(first), order));
    store_lanes(scores + c, sub(load_lanes(scores + c, lanes), mul(factor, distance)), lanes);
  });
}

/// Adds biases to a row of scores and hides what is out of the window, where the options ask for it.
inline void apply_options(const Attention& args, const HeadView& view, std::size_t i, const KeyRange& keys,
                          float* scores) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const AttentionOptions& options = args.options;
  if (options.relative_bias != nullptr) add_relative_bias(options, view.head, i, keys, scores);
  if (options.alibi_slopes != nullptr) add_alibi(options.alibi_slopes[view.head], i, keys, scores);
  if (options.window == 0) return;
  const KeyRange visible = visible_keys(options, i, view.keys);
  for (std::size_t j = keys.begin; j < visible.begin; ++j) scores[j - keys.begin] = kHidden;
  for (std::size_t j = visible.end; j < keys.end; ++j) scores[j - keys.begin] = kHidden;
}

/// The largest of a row of scores.
inline float largest_score(const float* scores, std::size_t tokens) {
  const F32x16 least = broadcast(-std::numeric_limits<float>::infinity());
  F32x16 peak[2] = {least, least};
  std::size_t j = 0;
  for (; j + 2 * kLanes <= tokens; j += 2 * kLanes) {
    peak[0] = max(load(scores + j), peak[0]);
    peak[1] = max(load(scores + j + kLanes), peak[1]);
  }
  if (j + kLanes <= tokens) {
    peak[0] = max(load(scores + j), peak[0]);
    j += kLanes;
  }
  if (j < tokens) peak[1] = max(replace_from(load(scores + j), static_cast<int>(tokens - j), least), peak[1]);
  return reduce_max(max(peak[0], peak[1]));
}

/// Turns a row of scores into e^(score - peak), 0 from the last key's end up to the next multiple of 16; returns their
/// sum.
inline float exponentiate(float* scores, std::size_t tokens, float peak) {
  constexpr int kTogether = 4;
  const F32x16 top = broadcast(peak);
  F32x16 sum = broadcast(0.0f);
  std::size_t j = 0;
  for (; j + kTogether * kLanes <= tokens; j += kTogether * kLanes) {
    F32x16 weight[kTogether];
    unroll<kTogether>([&]<int v>() WEIR_INLINED { weight[v] = sub(load(scores + j + v * kLanes), top); });
    exponential_of_negative(weight);
    unroll<kTogether>([&]<int v>() WEIR_INLINED {
      store(scores + j + v * kLanes, weight[v]);
      sum = add(sum, weight[v]);
    });
  }
  for (; j < tokens; j += kLanes) {
    F32x16 weight[1] = {sub(load(scores + j), top)};
    exponential_of_negative(weight);
    if (tokens - j < kLanes) weight[0] = keep_first(weight[0], static_cast<int>(tokens - j));
    store(scores + j, weight[0]);
    sum = add(sum, weight[0]);
  }
  return reduce_add(sum);
}

/// What is hidden gets no weight at all; e^-infinity is a little above zero here. Returns the sum that is left.
inline float forget_hidden(const KeyRange& visible, const KeyRange& keys, float* weights) {
  for (std::size_t j = keys.begin; j < visible.begin; ++j) weights[j - keys.begin] = 0.0f;
  for (std::size_t j = visible.end; j < keys.end; ++j) weights[j - keys.begin] = 0.0f;
  F32x16 sum = broadcast(0.0f);
  for (std::size_t j = 0; j < keys.size(); j += kLanes) sum = add(sum, load(weights + j));
  return reduce_add(sum);
}

/// Softmax without its last division of rows first .. first + count of scaled scores of `keys`, in place, the rows
/// `stride` apart; inverse[r] becomes 1 / the sum of row r. One step for all rows after the other: each row's
/// reductions wait while the next row is computed.
template <std::size_t limit>
inline void softmax_numerators(const Attention& args, const HeadView& view, std::size_t first, std::size_t count,
                               const KeyRange& keys, const MutableRows& scores, float (&inverse)[limit]) {
  const bool plain = !has_bias(args.options) && args.options.window == 0;
  float peak[limit];
  for (std::size_t r = 0; r < count; ++r) {
    if (!plain) apply_options(args, view, first + r, keys, scores.row(r));
    peak[r] = largest_score(scores.row(r), keys.size());
  }
  for (std::size_t r = 0; r < count; ++r) {
    float sum = exponentiate(scores.row(r), keys.size(), peak[r]);
    if (args.options.window != 0) {
      sum = forget_hidden(visible_keys(args.options, first + r, view.keys), keys, scores.row(r));
    }
    inverse[r] = 1.0f / sum;
  }
}

/// compute(first, count) for nearly equal blocks of up to `most` tokens: few rows at once leave the multipliers waiting
/// for each other.
template <int most, class Compute>
inline void for_each_block(std::size_t tokens, Compute compute) {
  const std::size_t blocks = (tokens + most - 1) / most;
  const std::size_t step = (tokens + blocks - 1) / blocks;
  for (std::size_t i = 0; i < tokens; i += step) compute(i, tokens - i < step ? tokens - i : step);
}

template <class HeadKernel>
inline void for_each_head(const Attention& args, const AttentionRange& range, HeadKernel kernel) {
  for (std::size_t text = range.first_text; text < range.last_text; ++text) {
    for (std::size_t head = range.first_head; head < range.last_head; ++head) {
      const HeadView view = head_view(args, text, head);
      if (view.tokens != 0) kernel(view);
    }
  }
}

}  // namespace
}  // namespace weir::kernels
