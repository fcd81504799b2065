#include "serve/batch/batcher.h"

#include <algorithm>
#include <string>
#include <utility>

namespace weir::serve::batch {
namespace {

/// A batch smaller than this gains nothing from being split over idle instances.
constexpr std::size_t kSmallestShareTokens = 64;

}  // namespace

Batcher::Batcher(Options options) : options_(std::move(options)), queue_(options_) {}

Status Batcher::add(const RequestPtr& request) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Error(ErrorKind::kUnavailable, "the model is being closed");
    if (queue_.texts() + request->encodings.size() > options_.max_queued_texts) {
      return Error(ErrorKind::kOverloaded, std::to_string(queue_.texts()) + " texts wait for the model, the limit is " +
                                               std::to_string(options_.max_queued_texts) + "; try again later");
    }
    queue_.add(request, options_.now());
  }
  wake_.notify_all();
  return {};
}

/// With several instances idle each takes its share, so that one request's texts are computed side by side.
std::size_t Batcher::most_tokens() const {
  const std::size_t share = (queue_.tokens() + idle_ - 1) / std::max<std::size_t>(1, idle_);
  return std::max(share, kSmallestShareTokens);
}

bool Batcher::next(Batch& batch) {
  batch.clear();
  std::unique_lock lock(mutex_);
  ++idle_;
  while (!closed_) {
    queue_.drop_finished();
    const auto now = options_.now();
    const auto due = queue_.due(upstream_, now);
    if (!due) {
      wake_.wait(lock);
    } else if (*due > now) {
      wake_.wait_until(lock, *due);
    } else {
      batch = queue_.take(most_tokens(), now);
      break;
    }
  }
  --idle_;
  return !closed_;
}

void Batcher::drop_finished() {
  const std::lock_guard lock(mutex_);
  queue_.drop_finished();
}

void Batcher::close() {
  BatchQueue let_go(options_);  // emptied without the lock: a request may hold an Expected
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    std::swap(queue_, let_go);
  }
  wake_.notify_all();
}

void Batcher::expect() {
  const std::lock_guard lock(mutex_);
  ++upstream_;
}

void Batcher::unexpect() {
  {
    const std::lock_guard lock(mutex_);
    if (--upstream_ > 0) return;
  }
  wake_.notify_all();
}

std::size_t Batcher::depth() const {
  const std::lock_guard lock(mutex_);
  return queue_.texts();
}

}  // namespace weir::serve::batch
