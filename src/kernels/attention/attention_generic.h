// What the attention variants share: one text and head at a time, rotation, biases and softmax; see attention.h.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/simd/activation_math.h"
#include "kernels/simd/f32x16.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

/// Rows of floats.
struct Rows {
  const float* data;
  std::size_t stride;
  const float* row(std::size_t i) const { return data + i * stride; }
};

/// One text and head.
struct HeadView {
  Rows query, key, value;
  float* out;
  std::size_t out_stride;
  std::size_t tokens;
  std::size_t head_size;
  std::size_t head;
};

inline bool has_bias(const AttentionOptions& options) {
  return options.relative_bias != nullptr || options.alibi_slopes != nullptr;
}

inline HeadView head_view(const Attention& args, std::size_t text, std::size_t head) {
  const std::size_t first = args.offsets[text];
  const std::size_t in = first * args.stride + head * args.head_size;
  return {{args.query + in, args.stride},
          {args.key + in, args.stride},
          {args.value + in, args.stride},
          args.out + first * args.out_stride + head * args.head_size,
          args.out_stride,
          args.offsets[text + 1] - first,
          args.head_size,
          head};
}

/// Rotates the rows of one text and head into `out` [tokens][head_size].
inline Rows rotate(const Rows& in, const HeadView& view, const AttentionOptions& options, float* out) {
  const std::size_t half = view.head_size / 2;
  for (std::size_t i = 0; i < view.tokens; ++i) {
    const float* cosine = options.rotary_cos + i * half;
    const float* sine = options.rotary_sin + i * half;
    for (std::size_t c = 0; c < half; ++c) {
      const float low = in.row(i)[c];
      const float high = in.row(i)[c + half];
      out[i * view.head_size + c] = low * cosine[c] - high * sine[c];
      out[i * view.head_size + c + half] = high * cosine[c] + low * sine[c];
    }
  }
  return {out, view.head_size};
}

/// Replaces query and key by rotated copies, if the options ask for it; returns the scratch that is left.
inline float* apply_rotation(HeadView& view, const AttentionOptions& options, float* scratch) {
  if (options.rotary_cos == nullptr) return scratch;
  const std::size_t floats = view.tokens * view.head_size;
  view.query = rotate(view.query, view, options, scratch);
  view.key = rotate(view.key, view, options, scratch + floats);
  return scratch + 2 * floats;
}

inline float score_bias(const AttentionOptions& options, std::size_t head, std::size_t i, std::size_t j) {
  const std::size_t distance = i < j ? j - i : i - j;
  float bias = 0.0f;
  if (options.relative_bias != nullptr) {
    const std::size_t reach = options.relative_reach;
    const std::size_t limited = distance < reach ? distance : reach;
    bias += options.relative_bias[head * (2 * reach + 1) + (i < j ? reach + limited : reach - limited)];
  }
  if (options.alibi_slopes != nullptr) bias -= options.alibi_slopes[head] * static_cast<float>(distance);
  return bias;
}

/// The tokens that token i sees.
struct KeyRange {
  std::size_t begin, end;
};
inline KeyRange visible_keys(const AttentionOptions& options, std::size_t i, std::size_t tokens) {
  if (options.window == 0) return {0, tokens};
  const std::size_t begin = i > options.window ? i - options.window : 0;
  return {begin, tokens - i > options.window ? i + options.window + 1 : tokens};
}

/// Adds biases to a row of scores and hides what is out of the window, where the options ask for it.
inline void apply_options(const Attention& args, const HeadView& view, std::size_t i, float* scores) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  if (has_bias(args.options)) {
    for (std::size_t j = 0; j < view.tokens; ++j) scores[j] += score_bias(args.options, view.head, i, j);
  }
  if (args.options.window == 0) return;
  const KeyRange keys = visible_keys(args.options, i, view.tokens);
  for (std::size_t j = 0; j < keys.begin; ++j) scores[j] = kHidden;
  for (std::size_t j = keys.end; j < view.tokens; ++j) scores[j] = kHidden;
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

/// Turns a row of scores into e^(score - peak), 0 from the text's end up to the next multiple of 16; returns their sum.
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
inline float forget_hidden(const KeyRange& keys, std::size_t tokens, float* weights) {
  for (std::size_t j = 0; j < keys.begin; ++j) weights[j] = 0.0f;
  for (std::size_t j = keys.end; j < tokens; ++j) weights[j] = 0.0f;
  F32x16 sum = broadcast(0.0f);
  for (std::size_t j = 0; j < tokens; j += kLanes) sum = add(sum, load(weights + j));
  return reduce_add(sum);
}

/// Softmax without its last division of rows first .. first + count of scaled scores, in place, the rows `stride`
/// apart; inverse[r] becomes 1 / the sum of row r. One step for all rows after the other: each row's reductions wait
/// while the next row is computed.
template <std::size_t limit>
inline void softmax_numerators(const Attention& args, const HeadView& view, std::size_t first, std::size_t count,
                               float* scores, std::size_t stride, float (&inverse)[limit]) {
  const bool plain = !has_bias(args.options) && args.options.window == 0;
  float peak[limit];
  for (std::size_t r = 0; r < count; ++r) {
    if (!plain) apply_options(args, view, first + r, scores + r * stride);
    peak[r] = largest_score(scores + r * stride, view.tokens);
  }
  for (std::size_t r = 0; r < count; ++r) {
    float sum = exponentiate(scores + r * stride, view.tokens, peak[r]);
    if (args.options.window != 0) {
      const KeyRange keys = visible_keys(args.options, first + r, view.tokens);
      sum = forget_hidden(keys, view.tokens, scores + r * stride);
    }
    inverse[r] = 1.0f / sum;
  }
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
