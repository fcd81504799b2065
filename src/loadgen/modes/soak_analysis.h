// What a long run at an even load tells: drift, spikes that come at regular times, memory that grows. A pure function
// of the run's series.
#pragma once

#include <vector>

#include "loadgen/report/report.h"

namespace weir::loadgen {

/// One finding for each of latency_drift, throughput_drift, periodic_spikes and memory_growth (the last where memory
/// was sampled); `problem` says that it was found, and `text` what, or that nothing was.
///
/// Drift and growth: the Theil–Sen slope over the run with Sen's 95 % interval, called one when Mann and Kendall's test
/// gives p < 0.01 and the change over the run is more than a tenth of the median (memory: more than 1 % and 1 MiB, and
/// still going on in the second half). Spikes: find_periodic_spikes() on the slowest answer of each interval.
std::vector<Finding> analyze_soak(const Figures& run);

}  // namespace weir::loadgen
