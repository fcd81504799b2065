// The texts of one model that wait to be computed, and which of them go together next.
//
// Requests stand in a ring. A batch starts with a text of the first request in the ring, so the oldest is always
// served; mates come from the ring in its order, one text per request and round, as long as they are of similar length
// and the batch stays within its bounds. The first request then goes to the end of the ring if texts of it are left: a
// request with many texts advances by turns and does not hold up those behind it.
//
// Not thread-safe and without a clock: the Batcher adds both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "serve/batch/options.h"
#include "serve/request/request.h"

namespace weir::serve::batch {

class BatchQueue {
 public:
  explicit BatchQueue(Options options) : options_(std::move(options)) {}

  /// Queues all texts of a request whose encodings are there.
  void add(RequestPtr request, Clock::time_point now);

  /// The next batch, its texts sorted by length; empty when nothing waits. `most_tokens` may lower the bound on padded
  /// tokens. Sets the requests' first_batch_ns and, with its last text, its time in the queue.
  Batch take(std::size_t most_tokens, Clock::time_point now);

  /// Removes the texts of finished requests.
  void drop_finished();

  /// When the next batch should be taken, given the requests that will arrive soon: at once when no more are coming or
  /// enough wait to fill a batch, else when the oldest has waited for the window. Nothing when the queue is empty.
  std::optional<Clock::time_point> due(std::size_t upstream, Clock::time_point now) const;

  std::size_t texts() const { return texts_; }
  std::size_t tokens() const { return tokens_; }

 private:
  struct Length {
    std::uint32_t tokens;
    std::uint32_t index;
    auto operator<=>(const Length&) const = default;
  };
  struct Waiting {
    RequestPtr request;
    std::vector<Length> texts;  ///< Ascending.
    Clock::time_point arrived;
  };
  struct Bounds;  ///< Of a batch under construction.

  void move(Waiting& from, std::vector<Length>::iterator text, Batch& batch, Clock::time_point now);
  bool add_mate(Waiting& from, Bounds& bounds, Batch& batch, Clock::time_point now);

  Options options_;
  std::list<Waiting> ring_;
  std::size_t texts_ = 0;
  std::size_t tokens_ = 0;
};

}  // namespace weir::serve::batch
