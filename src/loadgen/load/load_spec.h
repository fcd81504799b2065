// A load to put on a server. A value.
//
// Closed loop: `clients` users, each sends its next request when the last one has ended. The server sets the pace, so
// what a stall keeps from being sent is missing in the percentiles. Open loop: requests are due at times that do not
// depend on the server, and latencies count from then.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/deadline.h"
#include "loadgen/load/arrivals.h"

namespace weir::loadgen {

struct LoadSpec {
  std::uint32_t clients = 1;  ///< Closed loop; not looked at when there is a rate or recorded arrivals.
  double rate = 0;            ///< Open loop: requests per second. With recorded arrivals and 0: theirs.
  std::shared_ptr<const RecordedArrivals> recorded;

  std::uint32_t most_connections = 1000;  ///< Open loop: what is due while all are in use waits in the generator.
  int threads = 1;                        ///< Of the generator.
  Clock::duration duration = std::chrono::seconds(10);          ///< Of the window that is measured.
  Clock::duration most_warm_up = std::chrono::seconds(10);      ///< Until the server is steady, at most; 0: none.
  Clock::duration timeout = std::chrono::seconds(30);           ///< From when a request is due.
  Clock::duration error_pause = std::chrono::milliseconds(10);  ///< Closed loop: what a client waits after a failure.
  std::uint64_t seed = 1;

  bool open_loop() const { return rate > 0 || recorded != nullptr; }
  double offered_rate() const { return rate > 0 || !recorded ? rate : recorded->rate(); }
  /// "20 clients", "150 requests/s".
  std::string label() const;
};

}  // namespace weir::loadgen
