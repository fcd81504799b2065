// Searches over the load for where a server's behaviour changes. They see the server only through probes, so that they
// can be tested with servers that are formulas.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "loadgen/report/report.h"

namespace weir::loadgen {

/// Runs a closed loop of so many clients.
using ClientsProbe = std::function<Result<Figures>(std::uint32_t clients)>;
/// Runs an open loop at so many requests per second.
using RateProbe = std::function<Result<Figures>(double rate)>;

/// The most requests per second of closed loops of 4, 8, 16 … 512 clients; ends when doubling gains less than 5 %.
/// kUnavailable when nothing was answered.
Result<double> find_capacity(const ClientsProbe& probe);

struct Knee {
  double rate = 0;         ///< The highest rate before P99 climbs.
  double base_p99_ms = 0;  ///< P99 of the calm server.
  double p99_ms = 0;       ///< At the knee.
  bool beyond = false;     ///< Nothing climbed up to 110 % of the capacity: the knee lies there or above.
  bool below = false;      ///< It climbed at the lowest rate already.
};

/// Open loops at 20 % to 110 % of the capacity. P99 of the lowest three rates' median is the calm server's; it climbs
/// where it is more than `factor` times that, or where less than 95 % of what was due is answered in time. Between the
/// last rate before and the first after, three halvings.
Result<Knee> find_knee(const RateProbe& probe, double capacity, double factor);

struct SloLimit {
  double p99_ms = 0;
  double failed_share = 0.001;
};

struct SloResult {
  bool reached = false;  ///< Whether any rate met the limit.
  Figures best;          ///< The run at the highest rate that met it.
};

/// The highest rate that meets the limit and at which 95 % of what is due is answered in time, to within 3 %, by
/// halving.
Result<SloResult> find_slo_rate(const RateProbe& probe, double capacity, const SloLimit& limit);

}  // namespace weir::loadgen
