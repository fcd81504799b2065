// SIGTERM, SIGINT and SIGHUP as something to wait for; SIGHUP only where it is not ignored, as under nohup. Block them
// before the first thread starts, so that every thread inherits it; then one thread waits.
#pragma once

#include <optional>

#include "base/deadline.h"
#include "base/result.h"

namespace weir::cli {

class StopSignals {
 public:
  StopSignals() = default;
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// Blocks the signals for this thread and those it starts, and ignores SIGPIPE for the process. kIo.
  Status block();

  /// Waits for a signal or for wake(), at most `timeout`. The signal's number, if it was one.
  std::optional<int> wait(Clock::duration timeout);

  /// Ends a wait() now, or the next one. Any thread.
  void wake();

  /// From now on a signal ends the process at once, with status 128 + its number.
  void exit_on_next();

 private:
  int signal_fd_ = -1;
  int wake_fd_ = -1;
};

}  // namespace weir::cli
