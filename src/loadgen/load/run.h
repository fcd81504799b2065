// Puts a load on a target: warm-up until steady, then a window that is measured, then what is left of it. Blocks; owns
// the threads of the load. One call at a time is meant, several at once (two targets) are allowed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "loadgen/load/load_spec.h"
#include "loadgen/measure/recorder.h"
#include "loadgen/target/driver.h"

namespace weir::loadgen {

/// What the server's processes have used, at a moment.
struct UsageSample {
  double at_s = 0;  ///< Since the window began; before it, negative.
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
};

struct RunProgress {
  bool warming_up = true;
  double seconds = 0;              ///< Of the phase.
  double total_seconds = 0;        ///< Of the phase, at most.
  double requests_per_second = 0;  ///< Of the last moments.
  double mean_ms = 0;
  std::uint64_t failed = 0;
};

struct RunHooks {
  /// Waits; true when the user wants to stop.
  std::function<bool(Clock::duration)> wait;
  /// May be empty. A few times a second.
  std::function<void(const RunProgress&)> progress;
  /// May be empty. Called at the window's ends and once for every interval.
  std::function<std::optional<UsageSample>()> usage;
};

struct WarmUpResult {
  double seconds = 0;
  bool steady = false;  ///< Else the time allowed was over.
};

struct RunResult {
  LoadSpec spec;
  double seconds = 0;  ///< Of the window.
  double interval_seconds = 0;
  Recording recording;
  WarmUpResult warm_up;
  double generator_cpu_share = 0;  ///< Of the busiest thread.
  std::vector<UsageSample> usage;
  bool interrupted = false;  ///< What was measured until then is here.
};

/// How the window is cut for the series: a quarter of a second, or as long as makes 1,200 intervals; a sixtieth of
/// windows below 15 s.
Clock::duration interval_of(Clock::duration window);

/// kUnavailable: not one request was answered within the warm-up (or a second), with the reasons counted. kIo.
Result<RunResult> run_load(Target& target, const LoadSpec& spec, const RunHooks& hooks);

}  // namespace weir::loadgen
