// A server that the load test starts by a command and ends after: a process group of its own, whose output goes to a
// file. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <sys/types.h>

#include "base/deadline.h"
#include "base/result.h"

namespace weir::loadgen {

class ServerProcess {
 public:
  /// Runs `command` by the shell. This process becomes the parent of what the command leaves behind. kIo.
  static Result<ServerProcess> start(const std::string& command);
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&& other) noexcept;
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  ///< stop()

  pid_t pid() const { return pid_; }
  /// False once the command has ended by itself.
  bool running();

  /// Asks `ready` until it says so. kUnavailable: the command ended first, or the time is over; the message holds the
  /// end of what it printed. kCancelled: `wait`, which is called between two tries, said to stop.
  Status wait_ready(const std::function<bool()>& ready, Deadline deadline,
                    const std::function<bool(Clock::duration)>& wait);

  /// SIGTERM to the whole group, SIGKILL when `patience` is over; returns when none is left of it.
  void stop(Clock::duration patience = std::chrono::seconds(10));

  /// The last bytes that the command printed.
  std::string output_end() const;

 private:
  void reap();

  ServerProcess(std::string command, pid_t pid, std::string log)
      : command_(std::move(command)), pid_(pid), log_(std::move(log)) {}

  std::string command_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
  std::string log_;  ///< Path; removed at the end.
};

/// A TCP port on which nobody listens right now. kIo.
Result<std::uint16_t> free_port();

/// `command` with "{name}" replaced by `value`, wherever it stands.
std::string with_placeholder(std::string command, const std::string& name, const std::string& value);

}  // namespace weir::loadgen
