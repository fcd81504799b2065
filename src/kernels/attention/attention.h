// Self-attention over packed texts: each text attends to its own tokens only, nothing is padded or masked. A text's
// keys are all its tokens, or the first few of them.
//
//   for every text (tokens offsets[t] .. offsets[t + 1]), head h, token i:
//     s[j] = scale * <q_i, k_j> + bias(h, i, j)        j over the text's keys (within the window)
//     out_i = sum_j softmax(s)[j] * v_j
//
// Shapes: query, key, value [tokens][stride >= heads * head_size], head h in columns h * head_size on; usually three
// column ranges of one [tokens][3 * hidden] array; all three in fp32 or all three in bf16. out [tokens][out_stride].
// offsets [texts + 1] ascends; a text may be empty. out must not overlap the inputs. No alignment is needed.
//
// Blocks: the keys of a text and head are transposed and its values copied once (head_size x tokens x 4 bytes each, 64
// KiB for 512 tokens of 32; rows of a wide array would share few cache sets), then a few queries at a time take all
// their scores, softmax and weighted sum while those scores are in L1 (L2 beyond some 1,500 tokens).
//
// Numeric class. fp32 variants: consistent, the same bits in every variant, for any batch that a text is part of, any
// split, and for inputs in bf16 the same as for their values in fp32. int8 variants: likewise among themselves, to fp32
// a tolerance of about 2 % of the largest |v|; attention_int8.h has the formula. bf16 variants: q, k, v and the softmax
// are rounded to bf16, products are summed in fp32 in an order of the hardware; within themselves independent of batch
// and split, to fp32 a tolerance of about 1 % of the largest |v|.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace weir::kernels {

/// What some model families add to plain attention. All tables stay the caller's.
struct AttentionOptions {
  /// T5 and MPNet: bias[h][j - i + relative_reach], [heads][2 * relative_reach + 1]; distances beyond the reach take
  /// its end values. Null: none.
  const float* relative_bias = nullptr;
  std::size_t relative_reach = 0;
  /// ALiBi, the symmetric form of encoders: -slope[h] * |j - i|. Null: none.
  const float* alibi_slopes = nullptr;
  /// Rotary position embedding on q and k, halves rotated against each other: for c < head_size / 2
  /// (x[c], x[c + half]) -> (x[c] cos - x[c + half] sin, x[c + half] cos + x[c] sin), tables
  /// [positions >= longest text][head_size / 2]. Null: none.
  const float* rotary_cos = nullptr;
  const float* rotary_sin = nullptr;
  /// DeBERTa: scale * (<q_i, position_keys[b]> + <k_j, position_queries[b]>) is added, b being the distance's bucket
  /// buckets[i - j + bucket_reach]. Tables by head, transposed: [heads][head_size][position_stride], the stride a
  /// multiple of 16 beyond all buckets. `buckets` [2 * bucket_reach + 1] never descends and reaches over the longest
  /// text. Variants in fp32 only. Null: none; of the tables, one may be null.
  const float* position_keys = nullptr;
  const float* position_queries = nullptr;
  std::size_t position_stride = 0;
  const std::int32_t* buckets = nullptr;
  std::size_t bucket_reach = 0;
  /// Token i sees tokens i - window .. i + window. 0: all. What none of some neighbouring queries sees is not computed
  /// in fp32: the cost grows with the window, not with the text.
  std::size_t window = 0;
};

struct Attention {
  const float* query = nullptr;
  const float* key = nullptr;
  const float* value = nullptr;
  const std::uint16_t* query_bf16 = nullptr;  ///< this and the next two: null, or given instead of the first three
  const std::uint16_t* key_bf16 = nullptr;
  const std::uint16_t* value_bf16 = nullptr;
  std::size_t stride = 0;
  const std::uint32_t* offsets = nullptr;
  /// [texts]: how many of a text's tokens, from the first on, are attended to; from 1 to all, and with a window at
  /// least all but that many, so that no token sees none. Null: all.
  const std::uint32_t* keys = nullptr;
  std::size_t heads = 0;
  std::size_t head_size = 0;
  float scale = 1.0f;
  AttentionOptions options;
  float* out = nullptr;
  std::size_t out_stride = 0;
};

/// Which texts and heads a call computes.
struct AttentionRange {
  std::size_t first_text = 0;
  std::size_t last_text = 0;  ///< one past
  std::size_t first_head = 0;
  std::size_t last_head = 0;  ///< one past
};

enum class AttentionPrecision : std::uint8_t { kFp32, kBf16, kInt8 };

struct AttentionVariant {
  const char* name;
  cpu::Features required;
  AttentionPrecision precision;
  /// `scratch` holds attention_scratch_floats() floats and belongs to this call alone.
  void (*run)(const Attention& args, const AttentionRange& range, float* scratch);
};

/// All variants of this build: those in int8, in bf16 and in fp32, best first in each precision.
std::span<const AttentionVariant> attention_variants();

/// The best one of a precision that `features` can run; where there is none in bf16, one in fp32.
const AttentionVariant& choose_attention(cpu::Features features, AttentionPrecision precision);

/// Floats of scratch for texts of up to `longest_text` tokens.
std::size_t attention_scratch_floats(std::size_t longest_text, std::size_t head_size,
                                     const AttentionOptions& options = {});

}  // namespace weir::kernels
