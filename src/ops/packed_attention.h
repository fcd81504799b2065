// Self-attention over packed texts (kernels/attention), its result in the form that the layer that follows takes.
//
//   query_key_value float [tokens, 3 * hidden] or bfloat16 [tokens, stride] (rows.h), offsets int64 [texts + 1]
//   → rows (rows.h)
//
// An optional input `keys` int64 [texts] says how many of a text's tokens, from the first on, are attended to; without
// it all are. Each text has at least one, and of a window's layer so many that no token sees none.
//
// What a family adds, each an optional input:
//
//   relative_bias [heads, 2 * reach + 1]   added to the scores, by the distance from query to key, plus reach
//   alibi_slopes [heads]                   slope * distance is taken from the scores
//   rotary_cos, rotary_sin                 [positions, head size / 2]: queries and keys are rotated, halves of a head
//                                          against each other
//   window int64 [1]                       a token sees so many tokens to each side
//   position_keys, position_queries        [hidden, columns], of which one may be missing, and
//   position_buckets int64 [2 * reach + 1] for the bucket of the distance from key to query, plus reach: a query's
//                                          product with its position key and a key's with its position query are
//                                          added to the product of the two; computed in fp32
//
// Attributes: heads; head_size, which only bfloat16 needs; scale, by which scores are multiplied; precision, "fp32" or
// "int8" (the same bits everywhere; with tables by position int8 is fp32) or "bf16" (with AMX, elsewhere fp32).
#pragma once

#include <memory>

#include "kernels/attention/attention.h"
#include "ops/operator.h"
#include "ops/rows.h"
#include "ops/texts.h"

namespace weir::ops {

class PackedAttention {
 public:
  static constexpr const char* kName = "PackedAttention";
  static constexpr Port kInputs[] = {kAnyPort,
                                     kInt64Port,
                                     optional(kFloatPort),
                                     optional(kFloatPort),
                                     optional(kFloatPort),
                                     optional(kFloatPort),
                                     optional(kInt64Port),
                                     optional(kFloatPort),
                                     optional(kFloatPort),
                                     optional(kInt64Port),
                                     optional(kInt64Port)};
  static constexpr auto& kOutputs = kRowsPorts;

  PackedAttention(RowsFormat rows, RowsWriter writer) : rows_(rows), writer_(writer) {}

  static Result<std::unique_ptr<PackedAttention>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  /// Queries, keys and values, in fp32 or bf16, and how many tokens there are.
  Result<kernels::Attention> read_input(const Call& call, std::size_t& rows) const;
  /// Reads what a family adds.
  Status read_options(const Call& call, std::size_t longest_text, kernels::Attention& args) const;

  /// On one thread, text by text: what is attended is made narrow while it is in the caches.
  Status attend_texts(const kernels::AttentionVariant& variant, const kernels::Attention& args, const Texts& texts,
                      float* work, const RowsOutput& out) const;

  RowsFormat rows_;
  RowsWriter writer_;
  std::size_t heads_ = 1;
  std::size_t head_size_ = 0;  ///< 0: a third of the columns, divided by the heads.
  float scale_ = 1;
  const kernels::AttentionVariant* variant_ = nullptr;
  const kernels::AttentionVariant* fp32_variant_ = nullptr;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
