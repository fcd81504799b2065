// Who may come in: a number of permits, and a waiting room of bounded size before them, first come, first served. When
// both are full the newcomer is refused at once.
//
// The gate never blocks and knows no time limits: who is admitted is told through a callback, and who runs out of time
// is taken out by whoever enforces deadlines, through leave(). All calls are thread-safe; callbacks run without the
// gate's lock, on the thread that entered or on the one whose leaving made room. A callback that leaves at once would
// nest as deep as the waiting room is long, so callbacks hand over to a queue.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>

#include "base/deadline.h"
#include "base/result.h"
#include "serve/admission/completion_rate.h"

namespace weir::serve::admission {

struct Options {
  std::size_t permits = 200;
  std::size_t waiting_room = 100;
  std::function<Clock::time_point()> now = Clock::now;
};

/// All from one moment.
struct Numbers {
  std::size_t concurrency = 0;  ///< Permits in use.
  std::size_t waiting = 0;
  int retry_after_s = 1;  ///< When a client refused now should come back.
};

class Gate {
  struct Waiter;

 public:
  /// One request's claim on the gate, from before it enters until it leaves. Destroying it leaves: a permit cannot
  /// leak. Must leave before the gate goes; what has left may outlive it.
  class Place {
   public:
    explicit Place(Gate& gate) : gate_(&gate) {}
    ~Place() { leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Gives up the permit, the chair in the waiting room, or the right to enter at all. Any thread, any number of
    /// times.
    void leave() {
      if (Gate* gate = gate_.exchange(nullptr)) gate->leave(*this);
    }

   private:
    friend class Gate;
    enum class State { kOutside, kWaiting, kInside, kGone };
    std::atomic<Gate*> gate_;
    State state_ = State::kOutside;           // guarded by the gate's mutex, as is the next
    std::list<Waiter>::iterator position_{};  // while kWaiting
  };

  explicit Gate(Options options);

  /// Calls admitted() once, now or later, unless the place leaves first. kOverloaded when permits and waiting room are
  /// full; then the place may not enter again. A place enters at most once.
  Status enter(Place& place, std::function<void()> admitted);

  Numbers numbers() const;

 private:
  struct Waiter {
    Place* place;
    std::function<void()> admitted;
  };

  void leave(Place& place);
  std::list<Waiter> admit_waiting();
  Error refusal() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::size_t in_use_ = 0;
  std::list<Waiter> waiting_;
  CompletionRate rate_;
};

}  // namespace weir::serve::admission
