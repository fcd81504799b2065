// How the load reaches a server: a Driver sends requests and tells when they end. One for each thread of the load, made
// by a Target, which all threads share.
//
// A driver has slots, each with at most one request in flight: a connection of HTTP, a call of gRPC. Which request goes
// when, and what a timeout is, the load decides; what came back, the driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "loadgen/measure/outcome.h"

namespace weir::loadgen {

struct Completion {
  std::uint32_t slot = 0;
  Clock::time_point at;
  Outcome outcome;
};

/// Used by one thread.
class Driver {
 public:
  virtual ~Driver() = default;

  /// Sends request `request` of the target on a free slot. It ends in some later wait(), unless it is abandoned.
  virtual void start(std::uint32_t slot, std::uint32_t request) = 0;

  /// Blocks until requests have ended, at most until `until`, and appends them.
  virtual void wait(Clock::time_point until, std::vector<Completion>& completions) = 0;

  /// Gives up the request of `slot`, which is free then; it ends in no wait() any more.
  virtual void abandon(std::uint32_t slot) = 0;
};

/// What a request costs the server, known beforehand.
struct RequestSize {
  std::uint32_t texts = 1;
  std::uint32_t tokens = 0;  ///< 0 when they are not known.
};

/// Any thread.
class Target {
 public:
  virtual ~Target() = default;

  /// A driver with slots [0, slots). kIo when the machine gives no more files.
  virtual Result<std::unique_ptr<Driver>> open(std::uint32_t slots) = 0;

  /// The requests there are, at least one; their numbers are those of start().
  virtual const std::vector<RequestSize>& requests() const = 0;

  /// For people, such as "openai http://127.0.0.1:8080/v1/embeddings".
  virtual std::string describe() const = 0;
};

}  // namespace weir::loadgen
