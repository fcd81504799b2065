// What bounds a batch, and how long one may be waited for.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "base/deadline.h"

namespace weir::serve::batch {

/// Padded tokens of a batch unless configured, chosen by measurement: docs/performance.md, "Batching, padded fp32".
inline constexpr std::size_t kDefaultMaxTokens = 512;

struct Options {
  std::size_t max_texts = 32;
  std::size_t max_tokens = kDefaultMaxTokens;  ///< Texts times the longest. A longer text is a batch by itself.

  /// Texts are batched when the shortest is this close to the longest: in tokens, or as a share of the longest.
  std::size_t spread_tokens = 8;
  double spread_share = 0.125;

  Clock::duration window = std::chrono::milliseconds(5);
  std::size_t max_queued_texts = 65'536;
  std::function<Clock::time_point()> now = Clock::now;
};

}  // namespace weir::serve::batch
