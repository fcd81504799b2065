#include "loadgen/modes/modes.h"

#include <algorithm>
#include <cstdio>

#include "loadgen/modes/soak_analysis.h"

namespace weir::loadgen {
namespace {

/// Text of a finding, as printf makes it.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[400];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

RateProbe rate_probe(Session& session, Subject& subject) {
  return [&](double rate) { return session.run(subject, session.with_rate(rate)); };
}

Result<double> capacity(Session& session, Subject& subject) {
  WEIR_ASSIGN_OR_RETURN(const double most, find_capacity([&](std::uint32_t clients) {
                          return session.run(subject, session.with_clients(clients));
                        }));
  session.report().findings.push_back(
      {"capacity",
       format("capacity: %.4g requests/s, the most of closed loops with ever more clients", most),
       most,
       "requests/s",
       {},
       {},
       false});
  return most;
}

Result<Knee> knee(Session& session, Subject& subject, double factor) {
  WEIR_ASSIGN_OR_RETURN(const double most, capacity(session, subject));
  WEIR_ASSIGN_OR_RETURN(const Knee found, find_knee(rate_probe(session, subject), most, factor));
  const char* where = found.beyond ? ", the highest that was tried: nothing climbed" : "";
  Finding finding{"knee", "", found.rate, "requests/s", {}, {}, false};
  finding.text =
      found.below
          ? "no knee: P99 climbs at the lowest rate already"
          : format(
                "knee: %.4g requests/s%s. P99 there %.3g ms; calm %.3g ms (the median of the three lowest "
                "rates); it climbs where it is above %.3g times that or less than 95 %% of what is due is answered",
                found.rate, where, found.p99_ms, found.base_p99_ms, factor);
  session.report().findings.push_back(finding);
  return found;
}

void add_heatmap_findings(Session& session) {
  const std::vector<Figures>& runs = session.report().runs;
  const auto best = std::max_element(runs.begin(), runs.end(), [](const Figures& a, const Figures& b) {
    return a.requests_per_second < b.requests_per_second;
  });
  if (best == runs.end()) return;
  session.report().findings.push_back({"best",
                                       format("most: %.4g requests/s with %d threads and %s", best->requests_per_second,
                                              best->server_threads, best->label.c_str()),
                                       best->requests_per_second,
                                       "requests/s",
                                       {},
                                       {},
                                       false});
}

}  // namespace

Status run_once(Session& session, Subject& subject) {
  WEIR_RETURN_IF_ERROR(session.run(subject, session.spec()));
  return {};
}

Status run_ladder(Session& session, Subject& subject, const std::vector<std::uint32_t>& clients) {
  for (const std::uint32_t count : clients) WEIR_RETURN_IF_ERROR(session.run(subject, session.with_clients(count)));
  return {};
}

Status run_knee(Session& session, Subject& subject, double factor) {
  WEIR_RETURN_IF_ERROR(knee(session, subject, factor));
  return {};
}

Status run_soak(Session& session, Subject& subject, double factor, Clock::duration search_duration) {
  LoadSpec spec = session.spec();
  if (!spec.open_loop()) {
    Session search = session.with_duration(search_duration);
    WEIR_ASSIGN_OR_RETURN(const Knee found, knee(search, subject, factor));
    for (const Finding& finding : search.report().findings) session.report().findings.push_back(finding);
    if (found.rate <= 0) {
      return Error(ErrorKind::kUnavailable, "there is no knee to stay below; give the rate of the soak by --rate");
    }
    spec.rate = 0.8 * found.rate;
  }
  const auto soaked = session.run(subject, spec);
  if (!soaked.ok() && session.report().runs.empty()) return soaked.error();
  // Also what an interrupted soak has seen is worth telling.
  for (const Finding& finding : analyze_soak(session.report().runs.back())) {
    session.report().findings.push_back(finding);
  }
  if (!soaked.ok()) return soaked.error();
  return {};
}

Status run_slo(Session& session, Subject& subject, const SloLimit& limit) {
  WEIR_ASSIGN_OR_RETURN(const double most, capacity(session, subject));
  WEIR_ASSIGN_OR_RETURN(const SloResult found, find_slo_rate(rate_probe(session, subject), most, limit));
  Finding finding{"slo", "", 0, "requests/s", {}, {}, !found.reached};
  finding.text = format("no rate keeps P99 at %.4g ms or less", limit.p99_ms);
  if (found.reached) {
    finding.value = found.best.requests_per_second;
    finding.text = format("%.4g requests/s (%.4g texts/s) with P99 %.4g ms, within the limit of %.4g ms", finding.value,
                          found.best.texts_per_second, found.best.p99_ms, limit.p99_ms);
  }
  session.report().findings.push_back(finding);
  return {};
}

Status run_heatmap(Session& session, const std::function<Result<Subject>(int threads)>& open,
                   const std::vector<int>& threads, const std::vector<std::uint32_t>& clients) {
  for (const int count : threads) {
    WEIR_ASSIGN_OR_RETURN(Subject subject, open(count));
    for (const std::uint32_t each : clients) {
      WEIR_RETURN_IF_ERROR(session.run(subject, session.with_clients(each), count));
    }
  }
  add_heatmap_findings(session);
  return {};
}

}  // namespace weir::loadgen
