// The modes of `weir bench`. Each runs loads, adds their figures and its findings to the session's report, and returns
// the first error; kCancelled when the user stopped it. What was measured until then stays in the report.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "loadgen/modes/search.h"
#include "loadgen/modes/session.h"

namespace weir::loadgen {

/// One load, as the session's template says.
Status run_once(Session& session, Subject& subject);

/// A closed loop for each number of clients.
Status run_ladder(Session& session, Subject& subject, const std::vector<std::uint32_t>& clients);

/// The rate before which P99 climbs.
Status run_knee(Session& session, Subject& subject, double factor);

/// An even load for the session's duration: at the template's rate, or, when it has none, 20 % below the knee, which is
/// looked for with runs of `search_duration`.
Status run_soak(Session& session, Subject& subject, double factor, Clock::duration search_duration);

/// The highest throughput that meets the limit.
Status run_slo(Session& session, Subject& subject, const SloLimit& limit);

/// Each number of the server's threads with each number of clients. `open` gives the server with so many threads.
Status run_heatmap(Session& session, const std::function<Result<Subject>(int threads)>& open,
                   const std::vector<int>& threads, const std::vector<std::uint32_t>& clients);

/// The template's load on both, round by round (A B, B A, A B …), and the ratios B / A.
Status run_compare(Session& session, Subject& a, Subject& b, int rounds);

struct RampOptions {
  std::vector<double> shares = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0};
  double most_failed = 0.01;  ///< Of B's requests.
  double most_slower = 2;     ///< B's P99 over A's, in the same step.
};

/// The template's rate, of which B gets a share that rises step by step; stops when B does worse than allowed.
Status run_ramp(Session& session, Subject& a, Subject& b, const RampOptions& options);

}  // namespace weir::loadgen
