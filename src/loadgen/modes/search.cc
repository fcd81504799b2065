#include "loadgen/modes/search.h"

#include <algorithm>
#include <vector>

#include "loadgen/measure/statistics.h"

namespace weir::loadgen {
namespace {

bool keeps_up(const Figures& run) { return run.requests_per_second >= 0.95 * run.offered_rate; }

bool meets(const Figures& run, const SloLimit& limit) {
  return run.answered > 0 && run.p99_ms <= limit.p99_ms && run.failed_share <= limit.failed_share && keeps_up(run);
}

}  // namespace

Result<double> find_capacity(const ClientsProbe& probe) {
  constexpr std::uint32_t kMostClients = 512;
  double best = 0;
  for (std::uint32_t clients = 4; clients <= kMostClients; clients *= 2) {
    WEIR_ASSIGN_OR_RETURN(const Figures run, probe(clients));
    const double before = best;
    best = std::max(best, run.requests_per_second);
    if (clients > 4 && best < 1.05 * before) break;
  }
  if (best <= 0) return Error(ErrorKind::kUnavailable, "the server answered nothing");
  return best;
}

Result<Knee> find_knee(const RateProbe& probe, double capacity, double factor) {
  constexpr double kShares[] = {0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1};
  constexpr std::size_t kCalm = 3;
  constexpr int kHalvings = 3;
  Knee knee;
  std::vector<Figures> runs;
  const auto climbs = [&](const Figures& run) { return run.p99_ms > factor * knee.base_p99_ms || !keeps_up(run); };
  double good = 0;
  double bad = 0;
  for (const double share : kShares) {
    WEIR_ASSIGN_OR_RETURN(const Figures run, probe(share * capacity));
    runs.push_back(run);
    if (runs.size() < kCalm) continue;
    if (runs.size() == kCalm) {
      knee.base_p99_ms = median({runs[0].p99_ms, runs[1].p99_ms, runs[2].p99_ms});
      // The calm rates themselves are judged by it as well.
      for (const Figures& calm : runs) {
        if (climbs(calm)) bad = bad > 0 ? bad : calm.level;
        if (bad <= 0) good = calm.level;
      }
    } else if (climbs(run)) {
      bad = run.level;
    } else {
      good = run.level;
    }
    if (bad > 0) break;
  }
  knee.beyond = bad <= 0;
  knee.below = good <= 0;
  for (int i = 0; i < kHalvings && good > 0 && bad > 0; ++i) {
    WEIR_ASSIGN_OR_RETURN(const Figures run, probe((good + bad) / 2));
    runs.push_back(run);
    (climbs(run) ? bad : good) = run.level;
  }
  knee.rate = good;
  for (const Figures& run : runs) {
    if (run.level == good) knee.p99_ms = run.p99_ms;
  }
  return knee;
}

Result<SloResult> find_slo_rate(const RateProbe& probe, double capacity, const SloLimit& limit) {
  constexpr int kMostProbes = 9;
  constexpr double kPrecision = 0.03;
  SloResult result;
  double good = 0;
  double bad = 1.1 * capacity;  // an open loop above what a closed one reaches is never kept up with for long
  double rate = 0.5 * capacity;
  for (int i = 0; i < kMostProbes && bad - good > kPrecision * bad; ++i) {
    WEIR_ASSIGN_OR_RETURN(const Figures run, probe(rate));
    if (meets(run, limit)) {
      good = rate;
      result.reached = true;
      result.best = run;
    } else {
      bad = rate;
    }
    rate = (good + bad) / 2;
  }
  return result;
}

}  // namespace weir::loadgen
