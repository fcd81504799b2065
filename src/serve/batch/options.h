// What bounds a batch, and how long one may be waited for.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "base/deadline.h"

namespace weir::serve::batch {

/// Padded tokens of a batch unless configured, chosen by measurement: docs/performance.md, "Batching, padded fp32".
inline constexpr std::size_t kDefaultMaxTokens = 512;
/// Tokens of a batch of a packed model, which one thread computes: what stays in its L2 with a layer's weights.
inline constexpr std::size_t kDefaultMaxPackedTokens = 256;

struct Options {
  std::size_t max_texts = 32;
  std::size_t max_tokens = kDefaultMaxTokens;  ///< Texts times the longest. A longer text is a batch by itself.
  /// Nothing is padded: `max_tokens` is the sum of the texts' tokens, and texts of any lengths are batched.
  bool packed = false;

  /// Padded texts are batched when the shortest is this close to the longest: in tokens, or as a share of the longest.
  std::size_t spread_tokens = 8;
  double spread_share = 0.125;

  Clock::duration window = std::chrono::milliseconds(5);
  std::size_t max_queued_texts = 65'536;
  std::function<Clock::time_point()> now = Clock::now;
};

}  // namespace weir::serve::batch
