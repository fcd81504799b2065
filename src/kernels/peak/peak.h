// What one core can do at most: loops that only multiply, on registers, for the benchmarks to compare kernels with, and
// for `weir bench` to tell what share of it a server reaches.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace weir::kernels {

struct PeakLoop {
  const char* name;
  cpu::Features required;
  double operations_per_iteration;  ///< a multiplication and an addition count as two
  void (*run)(std::int64_t iterations);
};

/// All loops of this build.
std::span<const PeakLoop> peak_loops();

/// Operations per second of the best of many short runs of `loop`, measured once per process; 0 if this CPU lacks it.
double peak_operations_per_second(const char* name);

}  // namespace weir::kernels
