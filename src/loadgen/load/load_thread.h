// One thread of the load: sends what is due through a driver, notices what ended or took too long, and records it.
//
// Owned by run_load(), which reads the recording once the thread has ended. `Control` and `Pulse` are how the two talk
// meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "loadgen/load/arrivals.h"
#include "loadgen/load/load_spec.h"
#include "loadgen/measure/recorder.h"
#include "loadgen/target/driver.h"

namespace weir::loadgen {

/// From run_load() to all its threads.
struct Control {
  static constexpr std::int64_t kNotYet = std::numeric_limits<std::int64_t>::max();

  std::atomic<std::int64_t> window_begin{kNotYet};  ///< Ticks of Clock.
  std::atomic<std::int64_t> window_end{kNotYet};
  std::atomic<bool> stop{false};  ///< End now, whatever is in flight.
};

/// From a thread to run_load(), while the load runs.
struct alignas(64) Pulse {
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::int64_t> latency_ns{0};  ///< Of all answered, summed.
};

class LoadThread {
 public:
  /// Thread `number` of spec.threads, with `slots` slots of `driver`. `order` is the order of the requests.
  LoadThread(const LoadSpec& spec, std::size_t number, std::uint32_t slots, const Target& target,
             std::shared_ptr<const std::vector<std::uint32_t>> order, std::unique_ptr<Driver> driver,
             Recorder recorder);

  /// Until the window is over and what was due in it has ended, or until told to stop.
  void run(const Control& control);

  const Recording& recording() const { return recorder_.recording(); }
  const Pulse& pulse() const { return pulse_; }
  /// The share of the window in which this thread computed: near 1 it is the bottleneck itself.
  double cpu_share() const;

 private:
  struct Slot {
    Clock::time_point intended;
    Clock::time_point sent;
    std::uint32_t request = 0;
    std::uint32_t generation = 0;  ///< Counts requests, so that a timeout finds out that its own has ended.
    bool busy = false;
  };
  struct Timeout {
    Clock::time_point at;
    std::uint32_t slot;
    std::uint32_t generation;
  };
  struct Pause {
    Clock::time_point until;
    std::uint32_t slot;
  };

  void look_at(const Control& control, Clock::time_point now);
  void send_due(Clock::time_point now);
  void send_arrivals(Clock::time_point now);
  void send(std::uint32_t slot, Clock::time_point intended, Clock::time_point now);
  void expire(Clock::time_point now);
  void expire_backlog(Clock::time_point now);
  void complete(const Completion& completion);
  void slot_is_free(std::uint32_t slot, bool failed, Clock::time_point now);
  void record(const Ended& ended);
  bool over(Clock::time_point now) const { return now >= window_.end; }
  Clock::time_point next_event(Clock::time_point now) const;
  RequestSize size_of(std::uint32_t request) const { return target_.requests()[request]; }

  const LoadSpec& spec_;
  const Target& target_;
  std::unique_ptr<Driver> driver_;
  Recorder recorder_;
  Pulse pulse_;
  Window window_;

  std::shared_ptr<const std::vector<std::uint32_t>> order_;
  std::size_t next_request_;
  std::vector<Slot> slots_;
  std::size_t in_flight_ = 0;
  std::deque<Timeout> timeouts_;
  std::deque<Pause> pauses_;  ///< Closed loop: clients that wait after a failure, and at first all.

  std::optional<Arrivals> arrivals_;  ///< Open loop, as are the next.
  Clock::time_point began_{};
  Clock::time_point next_arrival_{};
  std::deque<Clock::time_point> backlog_;  ///< Due, but no connection is free.
  std::vector<std::uint32_t> free_slots_;

  std::optional<double> cpu_at_begin_s_;
  std::optional<double> cpu_at_end_s_;
};

}  // namespace weir::loadgen
