#include "loadgen/load/load_thread.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <sys/prctl.h>

namespace weir::loadgen {
namespace {

constexpr Clock::duration kControlEvery = std::chrono::milliseconds(10);

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Clock::time_point from_ticks(std::int64_t ticks) { return Clock::time_point(Clock::duration(ticks)); }

std::optional<Arrivals> make_arrivals(const LoadSpec& spec, std::size_t number) {
  if (!spec.open_loop()) return std::nullopt;
  const auto threads = static_cast<std::size_t>(spec.threads);
  if (spec.recorded) return Arrivals(spec.recorded, spec.rate, number, threads);
  return Arrivals(spec.rate / spec.threads, spec.seed * 1000003 + number);
}

}  // namespace

LoadThread::LoadThread(const LoadSpec& spec, std::size_t number, std::uint32_t slots, const Target& target,
                       std::shared_ptr<const std::vector<std::uint32_t>> order, std::unique_ptr<Driver> driver,
                       Recorder recorder)
    : spec_(spec),
      target_(target),
      driver_(std::move(driver)),
      recorder_(std::move(recorder)),
      order_(std::move(order)),
      // Threads begin at different places of the one order, so that they do not send the same at the same time.
      next_request_(number * order_->size() / static_cast<std::size_t>(spec.threads)),
      slots_(slots),
      arrivals_(make_arrivals(spec, number)) {}

void LoadThread::run(const Control& control) {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds; the default lets every timer be 50 microseconds late
  began_ = Clock::now();
  if (arrivals_) next_arrival_ = began_ + arrivals_->next();
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (arrivals_) {
      free_slots_.push_back(slot);
    } else {
      pauses_.push_back({began_, slot});
    }
  }
  std::vector<Completion> completions;
  while (!control.stop.load(std::memory_order_relaxed)) {
    const Clock::time_point now = Clock::now();
    look_at(control, now);
    expire(now);
    send_due(now);
    if (over(now) && in_flight_ == 0 && backlog_.empty()) break;
    completions.clear();
    driver_->wait(next_event(now), completions);
    for (const Completion& completion : completions) complete(completion);
  }
  if (cpu_at_begin_s_ && !cpu_at_end_s_) cpu_at_end_s_ = thread_cpu_seconds();
}

void LoadThread::look_at(const Control& control, Clock::time_point now) {
  const Window window{from_ticks(control.window_begin.load(std::memory_order_acquire)),
                      from_ticks(control.window_end.load(std::memory_order_acquire))};
  if (window.begin != window_.begin || window.end != window_.end) {
    window_ = window;
    recorder_.set_window(window);
  }
  if (now >= window_.begin && !cpu_at_begin_s_) cpu_at_begin_s_ = thread_cpu_seconds();
  if (now >= window_.end && !cpu_at_end_s_) cpu_at_end_s_ = thread_cpu_seconds();
}

double LoadThread::cpu_share() const {
  if (!cpu_at_begin_s_ || !cpu_at_end_s_ || window_.seconds() <= 0) return 0;
  return (*cpu_at_end_s_ - *cpu_at_begin_s_) / window_.seconds();
}

void LoadThread::send_due(Clock::time_point now) {
  if (arrivals_) return send_arrivals(now);
  while (!over(now) && !pauses_.empty() && pauses_.front().until <= now) {
    const Pause pause = pauses_.front();
    pauses_.pop_front();
    send(pause.slot, pause.until, now);
  }
}

void LoadThread::send_arrivals(Clock::time_point now) {
  while (next_arrival_ <= now && next_arrival_ < window_.end) {
    backlog_.push_back(next_arrival_);
    next_arrival_ = began_ + arrivals_->next();
  }
  while (!backlog_.empty() && !free_slots_.empty()) {
    // The connection used last: the fewest are opened.
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    send(slot, backlog_.front(), now);
    backlog_.pop_front();
  }
}

void LoadThread::send(std::uint32_t index, Clock::time_point intended, Clock::time_point now) {
  Slot& slot = slots_[index];
  slot.intended = intended;
  slot.sent = now;
  slot.request = (*order_)[next_request_];
  slot.busy = true;
  ++slot.generation;
  if (++next_request_ == order_->size()) next_request_ = 0;
  ++in_flight_;
  timeouts_.push_back({intended + spec_.timeout, index, slot.generation});
  driver_->start(index, slot.request);
}

void LoadThread::record(const Ended& ended) {
  const auto add = [](auto& counter, auto amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  };
  if (ended.outcome.answered()) {
    add(pulse_.answered, std::uint64_t{1});
    add(pulse_.latency_ns, Nanoseconds(ended.ended - ended.intended).count());
  } else {
    add(pulse_.failed, std::uint64_t{1});
  }
  recorder_.add(ended);
}

void LoadThread::expire(Clock::time_point now) {
  expire_backlog(now);
  while (!timeouts_.empty()) {
    const Timeout timeout = timeouts_.front();
    Slot& slot = slots_[timeout.slot];
    const bool ended_already = !slot.busy || slot.generation != timeout.generation;
    if (!ended_already && timeout.at > now) return;
    timeouts_.pop_front();
    if (ended_already) continue;
    driver_->abandon(timeout.slot);
    slot.busy = false;
    --in_flight_;
    const RequestSize size = size_of(slot.request);
    record({slot.intended, slot.sent, now, {Ending::kTimeout, 0}, size.texts, size.tokens});
    slot_is_free(timeout.slot, true, now);
  }
}

/// What waited so long for a free connection that its client would have gone.
void LoadThread::expire_backlog(Clock::time_point now) {
  while (!backlog_.empty() && backlog_.front() + spec_.timeout <= now) {
    record({backlog_.front(), now, now, {Ending::kTimeout, 0}, 1, 0});
    backlog_.pop_front();
  }
}

void LoadThread::complete(const Completion& completion) {
  Slot& slot = slots_[completion.slot];
  slot.busy = false;
  --in_flight_;
  const RequestSize size = size_of(slot.request);
  record({slot.intended, slot.sent, completion.at, completion.outcome, size.texts, size.tokens});
  slot_is_free(completion.slot, !completion.outcome.answered(), completion.at);
}

void LoadThread::slot_is_free(std::uint32_t slot, bool failed, Clock::time_point now) {
  if (arrivals_) {
    free_slots_.push_back(slot);
  } else if (failed) {
    pauses_.push_back({now + spec_.error_pause, slot});
  } else if (!over(now)) {
    send(slot, now, Clock::now());
  }
}

Clock::time_point LoadThread::next_event(Clock::time_point now) const {
  Clock::time_point next = now + kControlEvery;
  if (!timeouts_.empty()) next = std::min(next, timeouts_.front().at);
  if (over(now)) return next;
  next = std::min(next, now < window_.begin ? window_.begin : window_.end);
  if (!pauses_.empty()) next = std::min(next, pauses_.front().until);
  if (arrivals_) next = std::min(next, next_arrival_);
  return next;
}

}  // namespace weir::loadgen
