// The modes that look at two servers: compare and ramp.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "loadgen/measure/statistics.h"
#include "loadgen/modes/modes.h"

namespace weir::loadgen {
namespace {

using Figure = double (*)(const Figures&);

struct Compared {
  const char* name;
  const char* what;
  Figure figure;
};

constexpr Compared kCompared[] = {
    {"throughput_ratio", "requests/s", [](const Figures& run) { return run.requests_per_second; }},
    {"p50_ratio", "P50", [](const Figures& run) { return run.p50_ms; }},
    {"p99_ratio", "P99", [](const Figures& run) { return run.p99_ms; }},
    {"cpu_ratio", "processor time per request",
     [](const Figures& run) {
       return run.cpu_cores && run.requests_per_second > 0 ? *run.cpu_cores / run.requests_per_second : 0;
     }},
};

void add_ratio(Session& session, const Compared& compared, const std::vector<Figures>& a,
               const std::vector<Figures>& b) {
  std::vector<double> of_a;
  std::vector<double> of_b;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double first = compared.figure(a[i]);
    const double second = compared.figure(b[i]);
    if (first <= 0 || second <= 0) continue;  // not known, or nothing was answered
    of_a.push_back(first);
    of_b.push_back(second);
  }
  if (of_a.empty()) return;
  const Ratio ratio = paired_ratio(of_a, of_b);
  Finding finding{compared.name, "", ratio.ratio, "B / A", {}, {}, false};
  char text[256];
  if (ratio.pairs < 2) {
    std::snprintf(text, sizeof text, "%s: B / A = %.3f, one round: no interval", compared.what, ratio.ratio);
  } else {
    finding.low = ratio.low;
    finding.high = ratio.high;
    std::snprintf(
        text, sizeof text,
        "%s: B / A = %.3f, 95 %% interval %.3f to %.3f%s (Student's t on the logarithms of %zu rounds' ratios)",
        compared.what, ratio.ratio, ratio.low, ratio.high, ratio.differs_from_one() ? "" : ": no difference shown",
        ratio.pairs);
  }
  finding.text = text;
  session.report().findings.push_back(finding);
}

/// A and B at the same time, each at its share of the rate.
struct Step {
  Result<RunResult> a = RunResult();
  Result<RunResult> b = RunResult();
};

Step run_step(Session& session, Subject& a, Subject& b, double share) {
  const double rate = session.spec().rate;
  Step step;
  std::thread other([&] {
    if (share >= 1) return;
    // The user's signal is waited for by the other one; this run ends with its window.
    RunHooks hooks;
    hooks.wait = [](Clock::duration duration) {
      std::this_thread::sleep_for(duration);
      return false;
    };
    hooks.usage = a.usage;
    LoadSpec spec = session.with_rate(rate * (1 - share));
    step.a = run_load(*a.target, spec, hooks);
  });
  RunHooks hooks = session.hooks();
  hooks.usage = b.usage;
  LoadSpec spec = session.with_rate(rate * share);
  spec.seed += 1;  // not the same arrivals as the other's
  step.b = run_load(*b.target, spec, hooks);
  other.join();
  return step;
}

/// Why the ramp has to stop; empty when it need not.
std::string judge(const Figures& a, const Figures& b, const RampOptions& options) {
  char text[160] = "";
  if (b.failed_share > options.most_failed) {
    std::snprintf(text, sizeof text, "%.1f %% of B's requests failed, more than %.1f %%", 100 * b.failed_share,
                  100 * options.most_failed);
  } else if (a.p99_ms > 0 && b.p99_ms > options.most_slower * a.p99_ms) {
    std::snprintf(text, sizeof text, "B's P99, %.3g ms, is more than %.3g times A's, %.3g ms", b.p99_ms,
                  options.most_slower, a.p99_ms);
  }
  return text;
}

void conclude(Session& session, double share, const std::string& reason) {
  char text[320];
  if (reason.empty()) {
    std::snprintf(text, sizeof text, "B took all of the load and did no worse than allowed");
  } else {
    std::snprintf(text, sizeof text, "stopped at %.3g %% of the load on B: %s", 100 * share, reason.c_str());
  }
  session.report().findings.push_back({"share", text, share, "of the load", {}, {}, !reason.empty()});
}

}  // namespace

Status run_compare(Session& session, Subject& a, Subject& b, int rounds) {
  std::vector<Figures> of_a;
  std::vector<Figures> of_b;
  for (int round = 0; round < rounds; ++round) {
    const bool b_first = round % 2 == 1;  // so that neither always follows the other
    WEIR_ASSIGN_OR_RETURN(const Figures first, session.run(b_first ? b : a, session.spec()));
    WEIR_ASSIGN_OR_RETURN(const Figures second, session.run(b_first ? a : b, session.spec()));
    of_a.push_back(b_first ? second : first);
    of_b.push_back(b_first ? first : second);
  }
  for (const Compared& compared : kCompared) add_ratio(session, compared, of_a, of_b);
  return {};
}

Status run_ramp(Session& session, Subject& a, Subject& b, const RampOptions& options) {
  for (const double share : options.shares) {
    const Step step = run_step(session, a, b, share);
    Figures of_a;
    if (share < 1) {
      WEIR_RETURN_IF_ERROR(step.a);
      of_a = session.figures(*step.a, a);
      session.add(of_a);
    }
    if (!step.b.ok()) {
      // That B answers nothing is what a ramp is there to find out.
      if (step.b.error().kind != ErrorKind::kUnavailable) return step.b.error();
      conclude(session, share, step.b.error().message);
      return {};
    }
    const Figures of_b = session.figures(*step.b, b);
    session.add(of_b);
    if (of_b.interrupted) return interrupted();
    const std::string reason = judge(of_a, of_b, options);
    if (!reason.empty() || share >= 1) {
      conclude(session, share, reason);
      return {};
    }
  }
  conclude(session, options.shares.back(), "");
  return {};
}

}  // namespace weir::loadgen
