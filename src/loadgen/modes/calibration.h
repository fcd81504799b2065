// How fast the generator itself is on this machine, and whether a run came near it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/report/report.h"

namespace weir::loadgen {

/// Requests per second that `threads` threads of the generator reach against a server that does nothing, on this
/// machine, which it shares with that server. Takes half a second.
Result<double> measure_generator(int threads);

/// What to mind about the runs: a generator that was the bottleneck or nearly so, a run that was never steady.
std::vector<std::string> warnings_of(const Report& report);

}  // namespace weir::loadgen
