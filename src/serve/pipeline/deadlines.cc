#include "serve/pipeline/deadlines.h"

#include <algorithm>
#include <string>

namespace weir::serve {
namespace {

/// Whole milliseconds, or seconds where that is exact.
std::string text_of(Clock::duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

std::string stage_of(const Request& request) {
  return std::string(stage_name(request.stage.load(std::memory_order_relaxed)));
}

bool has_begun(const Request& request) { return request.first_batch_ns.load(std::memory_order_acquire) != 0; }

constexpr Clock::time_point kNever = Clock::time_point::max();

}  // namespace

Deadlines::Deadlines(Clock::duration max_wait) : max_wait_(max_wait), thread_([this] { work(); }) {}

Deadlines::~Deadlines() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Clock::time_point Deadlines::first_limit(const Request& request) const {
  return std::min(Deadline::after(max_wait_, request.arrived).at(), request.deadline.at());
}

void Deadlines::schedule(const RequestPtr& request, Clock::time_point at) {
  by_time_.emplace(Key{at, request.get()}, request);
  times_[request.get()] = at;
}

bool Deadlines::add(const RequestPtr& request) {
  const Clock::time_point at = first_limit(*request);
  bool earlier = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    schedule(request, at);
    earlier = at < next_look_;
  }
  if (earlier) wake_.notify_one();
  return true;
}

void Deadlines::remove(const RequestPtr& request) {
  const std::lock_guard lock(mutex_);
  const auto found = times_.find(request.get());
  if (found == times_.end()) return;
  by_time_.erase({found->second, request.get()});
  times_.erase(found);
  if (times_.empty()) empty_.notify_all();
}

void Deadlines::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool Deadlines::wait_empty(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto is_empty = [this] { return times_.empty(); };
  if (!deadline.never()) return empty_.wait_until(lock, deadline.at(), is_empty);
  empty_.wait(lock, is_empty);
  return true;
}

std::vector<RequestPtr> Deadlines::requests() const {
  const std::lock_guard lock(mutex_);
  std::vector<RequestPtr> requests;
  requests.reserve(by_time_.size());
  for (const auto& [key, request] : by_time_) requests.push_back(request);
  return requests;
}

/// Why the request's time is up, if it is.
std::optional<Error> Deadlines::timeout(const Request& request, Clock::time_point now) const {
  if (request.deadline.expired(now)) {
    return Error(ErrorKind::kTimeout, "the request's deadline of " + text_of(request.deadline.at() - request.arrived) +
                                          " passed in stage " + stage_of(request));
  }
  if (has_begun(request)) return std::nullopt;
  return Error(ErrorKind::kTimeout, "the request waited for more than " + text_of(max_wait_) +
                                        " (--max-wait), last in stage " + stage_of(request));
}

void Deadlines::expire(Clock::time_point now) {
  std::vector<std::pair<RequestPtr, Error>> expired;
  {
    const std::lock_guard lock(mutex_);
    while (!by_time_.empty() && by_time_.begin()->first.first <= now) {
      const RequestPtr request = by_time_.begin()->second;
      by_time_.erase(by_time_.begin());
      auto error = timeout(*request, now);
      // It stays until the pipeline removes it, with its deadline to come if inference has begun.
      schedule(request, error ? kNever : request->deadline.at());
      if (error) expired.emplace_back(request, *std::move(error));
    }
  }
  for (auto& [request, error] : expired) finish(request, std::move(error));
}

void Deadlines::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    next_look_ = by_time_.empty() ? kNever : by_time_.begin()->first.first;
    if (next_look_ == kNever) {
      wake_.wait(lock);
    } else if (next_look_ > Clock::now()) {
      wake_.wait_until(lock, next_look_);
    } else {
      lock.unlock();
      expire(Clock::now());
      lock.lock();
    }
  }
}

}  // namespace weir::serve
