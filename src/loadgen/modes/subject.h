// A server under test: given by its address, started by a command, or a model in this process. Owned by the mode that
// runs; ending it ends what it started.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/result.h"
#include "loadgen/dialects/dialect.h"
#include "loadgen/dialects/workload.h"
#include "loadgen/load/run.h"
#include "loadgen/process/server_process.h"
#include "loadgen/target/driver.h"

namespace weir::loadgen {

struct SubjectOptions {
  std::string url;         ///< Or, of a command, where it will listen.
  std::string command;     ///< "{port}" is replaced by a free port, "{threads}" by the threads of a heat map.
  std::string in_process;  ///< A bundle.
  int instances = 0;       ///< Of a model in this process; 0: chosen, as is the next.
  int threads = 0;
  DialectOptions dialect;
  int pid = 0;  ///< Whose memory and processor time to tell; 0: the command's, or nobody's.
  Clock::duration ready_timeout = std::chrono::seconds(120);
};

struct Subject {
  std::string name;  ///< "A", "B"; empty when there is only one.
  std::unique_ptr<Target> target;
  std::optional<ServerProcess> process;
  /// Empty when nobody's is told.
  std::function<std::optional<UsageSample>()> usage;
};

/// Starts what has to be started and waits until it answers one request. Errors as those of its parts; kUnavailable
/// when a server does not answer. `wait` ends the wait early (kCancelled).
Result<Subject> open_subject(const SubjectOptions& options, const Workload& workload,
                             const std::function<bool(Clock::duration)>& wait);

/// A subject as `compare` and `ramp` take it: an address if it begins like one, else a command.
void set_address_or_command(const std::string& text, SubjectOptions& options);

}  // namespace weir::loadgen
