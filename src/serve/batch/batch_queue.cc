#include "serve/batch/batch_queue.h"

#include <algorithm>
#include <cassert>

namespace weir::serve::batch {
namespace {

std::int64_t ticks(Clock::time_point time) { return time.time_since_epoch().count(); }

}  // namespace

/// What the texts chosen so far leave room for.
struct BatchQueue::Bounds {
  const Options& options;
  std::size_t most_tokens;
  std::size_t seed;  ///< Length of the first text; mates nearest to it are preferred.
  std::size_t shortest = seed;
  std::size_t longest = seed;
  std::size_t texts = 1;
  std::size_t sum = seed;

  bool full() const {
    const std::size_t least = options.packed ? sum + 1 : (texts + 1) * longest;
    return texts >= options.max_texts || least > most_tokens;
  }

  /// The length that a mate should be nearest to: like the others, or what just fills the batch.
  std::size_t wanted() const { return options.packed ? most_tokens - sum : seed; }

  bool takes(std::size_t tokens) const {
    if (options.packed) return sum + tokens <= most_tokens;
    const std::size_t low = std::min(shortest, tokens);
    const std::size_t high = std::max(longest, tokens);
    const auto share = static_cast<std::size_t>(options.spread_share * static_cast<double>(high));
    return high - low <= std::max(options.spread_tokens, share) && (texts + 1) * high <= most_tokens;
  }

  void add(std::size_t tokens) {
    shortest = std::min(shortest, tokens);
    longest = std::max(longest, tokens);
    sum += tokens;
    ++texts;
  }
};

void BatchQueue::add(RequestPtr request, Clock::time_point now) {
  std::vector<Length> texts;
  texts.reserve(request->encodings.size());
  for (std::uint32_t i = 0; i < request->encodings.size(); ++i) {
    texts.push_back({static_cast<std::uint32_t>(request->encodings[i].ids.size()), i});
    tokens_ += texts.back().tokens;
  }
  std::sort(texts.begin(), texts.end());
  texts_ += texts.size();
  if (!texts.empty()) ring_.push_back({std::move(request), std::move(texts), now});
}

void BatchQueue::move(Waiting& from, std::vector<Length>::iterator text, Batch& batch, Clock::time_point now) {
  --texts_;
  tokens_ -= text->tokens;
  Request& request = *from.request;
  batch.push_back({from.request, text->index});
  from.texts.erase(text);
  std::int64_t none = 0;
  request.first_batch_ns.compare_exchange_strong(none, ticks(now), std::memory_order_acq_rel);
  if (!from.texts.empty()) return;
  request.timings.queue = now - request.tokenized;
  request.stage.store(Stage::kEngine, std::memory_order_relaxed);
}

/// Moves the request's text that is nearest to the wanted length, if the batch takes it.
bool BatchQueue::add_mate(Waiting& from, Bounds& bounds, Batch& batch, Clock::time_point now) {
  const std::size_t wanted = bounds.wanted();
  const auto above = std::lower_bound(from.texts.begin(), from.texts.end(), wanted,
                                      [](const Length& text, std::size_t tokens) { return text.tokens < tokens; });
  auto chosen = from.texts.end();
  if (above != from.texts.end() && bounds.takes(above->tokens)) chosen = above;
  if (above != from.texts.begin()) {
    const auto below = std::prev(above);
    const bool nearer = chosen == from.texts.end() || wanted - below->tokens < chosen->tokens - wanted;
    if (nearer && bounds.takes(below->tokens)) chosen = below;
  }
  if (chosen == from.texts.end()) return false;
  bounds.add(chosen->tokens);
  move(from, chosen, batch, now);
  return true;
}

Batch BatchQueue::take(std::size_t most_tokens, Clock::time_point now) {
  Batch batch;
  if (ring_.empty()) return batch;
  Waiting& first = ring_.front();
  assert(!first.texts.empty());
  Bounds bounds{options_, std::min(most_tokens, options_.max_tokens), first.texts.back().tokens};
  move(first, std::prev(first.texts.end()), batch, now);
  if (!first.texts.empty()) ring_.splice(ring_.end(), ring_, ring_.begin());

  bool progress = true;
  while (progress && !bounds.full()) {
    progress = false;
    for (auto waiting = ring_.begin(); waiting != ring_.end() && !bounds.full(); ++waiting) {
      if (!waiting->texts.empty() && add_mate(*waiting, bounds, batch, now)) progress = true;
    }
  }
  ring_.remove_if([](const Waiting& waiting) { return waiting.texts.empty(); });
  std::stable_sort(batch.begin(), batch.end(),
                   [](const Item& left, const Item& right) { return left.tokens() < right.tokens(); });
  return batch;
}

void BatchQueue::drop_finished() {
  ring_.remove_if([this](const Waiting& waiting) {
    if (!waiting.request->is_finished()) return false;
    texts_ -= waiting.texts.size();
    for (const Length& text : waiting.texts) tokens_ -= text.tokens;
    return true;
  });
}

std::optional<Clock::time_point> BatchQueue::due(std::size_t upstream, Clock::time_point now) const {
  if (ring_.empty()) return std::nullopt;
  if (upstream == 0 || texts_ >= options_.max_texts || tokens_ >= options_.max_tokens) return now;
  const auto oldest = std::min_element(ring_.begin(), ring_.end(), [](const Waiting& left, const Waiting& right) {
    return left.arrived < right.arrived;
  });
  return oldest->arrived + options_.window;
}

}  // namespace weir::serve::batch
