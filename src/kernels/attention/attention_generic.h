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

/// Scales a row of raw scores, adds biases, hides what is out of the window; returns the largest. Scores from `tokens`
/// up to the next multiple of 16 become -infinity.
inline float prepare_scores(const Attention& args, const HeadView& view, std::size_t i, float* scores) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const std::size_t padded = (view.tokens + kLanes - 1) / kLanes * kLanes;
  const F32x16 scale = broadcast(args.scale);
  for (std::size_t j = 0; j < padded; j += kLanes) store(scores + j, mul(load(scores + j), scale));
  if (has_bias(args.options)) {
    for (std::size_t j = 0; j < view.tokens; ++j) scores[j] += score_bias(args.options, view.head, i, j);
  }
  const KeyRange keys = visible_keys(args.options, i, view.tokens);
  for (std::size_t j = 0; j < keys.begin; ++j) scores[j] = kHidden;
  for (std::size_t j = keys.end; j < padded; ++j) scores[j] = kHidden;
  F32x16 peak = broadcast(kHidden);
  for (std::size_t j = 0; j < padded; j += kLanes) peak = max(load(scores + j), peak);
  return reduce_max(peak);
}

/// Turns prepared scores into e^(score - peak), hidden ones into 0; returns their sum.
inline float exponentiate(const Attention& args, const HeadView& view, std::size_t i, float* scores, float peak) {
  const std::size_t whole = view.tokens / kLanes * kLanes;
  const F32x16 top = broadcast(peak);
  std::size_t j = 0;
  for (; j < whole; j += kLanes) store(scores + j, exponential(sub(load(scores + j), top)));
  if (j < view.tokens) {
    const int lanes = static_cast<int>(view.tokens - j);
    store(scores + j, keep_first(exponential(sub(load(scores + j), top)), lanes));
  }
  const KeyRange keys = visible_keys(args.options, i, view.tokens);
  for (std::size_t hidden = 0; hidden < keys.begin; ++hidden) scores[hidden] = 0.0f;
  for (std::size_t hidden = keys.end; hidden < view.tokens; ++hidden) scores[hidden] = 0.0f;
  F32x16 sum = broadcast(0.0f);
  for (j = 0; j < view.tokens; j += kLanes) sum = add(sum, load(scores + j));
  return reduce_add(sum);
}

/// Softmax without its last division: e^(score - peak) in place; returns 1 / their sum.
inline float softmax_numerators(const Attention& args, const HeadView& view, std::size_t i, float* scores) {
  const float peak = prepare_scores(args, view, i, scores);
  return 1.0f / exponentiate(args, view, i, scores, peak);
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
