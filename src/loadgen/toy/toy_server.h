// A server whose latencies and faults are known: what the load generator is measured against, in its tests and, to find
// its own limit, before a run. Speaks as much HTTP/1.1 as the generator sends. One thread of its own; any number of
// requests wait at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/deadline.h"
#include "base/result.h"

namespace weir::loadgen {

enum class ToyFault : std::uint8_t {
  kNone,
  kStatus,       ///< Answers with ToyBehaviour::status.
  kClose,        ///< Closes without an answer.
  kCloseMidway,  ///< Closes after half of the answer.
  kGarbage,      ///< Answers with bytes that are not HTTP.
  kWrongBody,    ///< Answers 200 with a body that is no answer.
  kSilence,      ///< Never answers.
};

/// "none", "status", "close", "close_midway", "garbage", "wrong_body", "silence".
Result<ToyFault> toy_fault_from_name(const std::string& name);

struct ToyBehaviour {
  Clock::duration latency{};  ///< Of every request,
  Clock::duration slow{};     ///< but for each `slow_every`-th, if that is not 0.
  std::uint64_t slow_every = 0;
  Clock::duration
      stall_every{};  ///< Nothing is answered for `stall`, each time this has passed since the start. 0: never.
  Clock::duration stall{};
  double leak_bytes_per_second = 0;  ///< Memory taken, written to and kept, up to 1 GiB.
  ToyFault fault = ToyFault::kNone;
  std::uint64_t fault_every = 1;  ///< Each so-manieth request meets the fault.
  int status = 503;
  std::size_t texts = 1;  ///< Vectors in an answer.
};

class ToyServer {
 public:
  /// Listens on 127.0.0.1; port 0 is any free one. kIo.
  static Result<std::unique_ptr<ToyServer>> start(const ToyBehaviour& behaviour, std::uint16_t port = 0);
  ~ToyServer();
  ToyServer(const ToyServer&) = delete;
  ToyServer& operator=(const ToyServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// "http://127.0.0.1:PORT"
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  class Loop;
  ToyServer(std::unique_ptr<Loop> loop, std::uint16_t port);

  std::unique_ptr<Loop> loop_;
  std::uint16_t port_;
  std::thread thread_;
};

}  // namespace weir::loadgen
