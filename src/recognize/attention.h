// Scores, masks, probabilities and results of attention, by where the elements of each head lie. Pure functions; any
// thread; errors as Call's.
#pragma once

#include <cstdint>
#include <optional>

#include "recognize/call.h"

namespace weir::recognize {

/// Queries [..., sequence, head size] times keys [..., head size, sequence], of one head of one text each.
Result<Value> attention_scores(const Call& call, const View& query, const View& key);
/// The scores with a constant added, which must leave a text's own tokens as they are and take all others out.
Result<Value> masked_scores(const Call& call, const View& scores, const Constant& mask);
Result<Value> attention_probabilities(const Call& call, const View& scores);
/// Probabilities times values [..., sequence, head size].
Result<Value> attention_context(const Call& call, const View& probabilities, const View& value);

/// All of it where one operator does it.
struct WholeAttention {
  View query;  ///< Each [batch, sequence, columns], the heads one after the other.
  View key;
  View value;
  std::int64_t heads = 0;
  double scale = 0;  ///< 0: one over the root of the head size.
  const Constant* mask =
      nullptr;  ///< Lengths, or 1 for each token of a text: [batch, sequence] and what broadcasts so.
  const Constant* added = nullptr;  ///< To the scores; either this or the mask is enough.
};
Result<Value> attention(const Call& call, const WholeAttention& whole);

}  // namespace weir::recognize
