#include "serve/admission/gate.h"

#include <cassert>
#include <iterator>
#include <utility>

namespace weir::serve::admission {

Gate::Gate(Options options) : options_(std::move(options)), rate_(options_.now()) {}

Error Gate::refusal() const {
  return Error(ErrorKind::kOverloaded, "the server is full: " + std::to_string(options_.permits) +
                                           " requests are being served (--permits) and " +
                                           std::to_string(options_.waiting_room) +
                                           " are waiting (--waiting-room); try again later");
}

Status Gate::enter(Place& place, std::function<void()> admitted) {
  {
    const std::lock_guard lock(mutex_);
    if (place.state_ == Place::State::kGone) return {};
    assert(place.state_ == Place::State::kOutside);
    if (in_use_ < options_.permits && waiting_.empty()) {
      ++in_use_;
      place.state_ = Place::State::kInside;
    } else if (waiting_.size() < options_.waiting_room) {
      waiting_.push_back({&place, std::move(admitted)});
      place.position_ = std::prev(waiting_.end());
      place.state_ = Place::State::kWaiting;
      return {};
    } else {
      place.state_ = Place::State::kGone;
      return refusal();
    }
  }
  admitted();
  return {};
}

void Gate::leave(Place& place) {
  std::list<Waiter> dropped;  // destroyed without the lock, as callbacks may own much
  std::list<Waiter> admitted;
  {
    const std::lock_guard lock(mutex_);
    const Place::State left = std::exchange(place.state_, Place::State::kGone);
    if (left == Place::State::kWaiting) dropped.splice(dropped.end(), waiting_, place.position_);
    if (left != Place::State::kInside) return;
    --in_use_;
    rate_.completed(options_.now());
    admitted = admit_waiting();
  }
  for (Waiter& waiter : admitted) waiter.admitted();
}

std::list<Gate::Waiter> Gate::admit_waiting() {
  std::list<Waiter> admitted;
  while (in_use_ < options_.permits && !waiting_.empty()) {
    ++in_use_;
    waiting_.front().place->state_ = Place::State::kInside;
    admitted.splice(admitted.end(), waiting_, waiting_.begin());
  }
  return admitted;
}

Numbers Gate::numbers() const {
  const std::lock_guard lock(mutex_);
  return {in_use_, waiting_.size(), rate_.retry_after_s(in_use_ + waiting_.size(), options_.now())};
}

}  // namespace weir::serve::admission
