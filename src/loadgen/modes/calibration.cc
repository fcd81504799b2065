#include "loadgen/modes/calibration.h"

#include <algorithm>
#include <thread>

#include "loadgen/http/http_target.h"
#include "loadgen/load/run.h"
#include "loadgen/toy/toy_server.h"

namespace weir::loadgen {
namespace {

constexpr double kNearLimit = 0.5;
constexpr double kBusy = 0.8;
constexpr double kLateMs = 1;

}  // namespace

Result<double> measure_generator(int threads) {
  WEIR_ASSIGN_OR_RETURN(const auto server, ToyServer::start({}));
  HttpRequests requests;
  WEIR_ASSIGN_OR_RETURN(requests.url, parse_url(server->url() + "/v1/embeddings", "--url"));
  requests.bodies = {R"({"model":"m","input":"a short text"})"};
  requests.sizes = {{1, 0}};
  WEIR_ASSIGN_OR_RETURN(const auto target, make_http_target(std::move(requests)));
  LoadSpec spec;
  spec.clients = 32 * static_cast<std::uint32_t>(threads);
  spec.threads = threads;
  spec.duration = std::chrono::milliseconds(350);
  spec.most_warm_up = std::chrono::milliseconds(100);
  RunHooks hooks;
  hooks.wait = [](Clock::duration duration) {
    std::this_thread::sleep_for(duration);
    return false;
  };
  WEIR_ASSIGN_OR_RETURN(const RunResult run, run_load(*target, spec, hooks));
  return static_cast<double>(run.recording.requests) / run.seconds;
}

std::vector<std::string> warnings_of(const Report& report) {
  std::vector<std::string> warnings;
  const auto runs_with = [&](auto condition) {
    std::string labels;
    for (const Figures& run : report.runs) {
      if (!condition(run)) continue;
      if (labels.size() > 200) return labels + ", …";
      labels += (labels.empty() ? "" : ", ") + (run.subject.empty() ? "" : run.subject + " ") + run.label;
    }
    return labels;
  };
  const std::string near = runs_with([&](const Figures& run) {
    return report.generator_limit && run.requests_per_second > kNearLimit * *report.generator_limit;
  });
  if (!near.empty()) {
    warnings.push_back("the generator, not the server, may be the bottleneck (more than half of the " +
                       short_number(*report.generator_limit) + " requests/s that it reaches here at most): " + near +
                       "; --load-threads gives it more threads, another machine more cores");
  }
  const std::string busy = runs_with([](const Figures& run) { return run.generator_cpu_share > kBusy; });
  if (!busy.empty()) warnings.push_back("a thread of the generator computed more than 80 % of the time: " + busy);
  const std::string late = runs_with(
      [](const Figures& run) { return run.open_loop && run.send_lag_p99_ms > std::max(kLateMs, 0.5 * run.p99_ms); });
  if (!late.empty()) {
    warnings.push_back(
        "half of P99 or more passed before requests were sent (no free connection, see "
        "--connections, or no processor time for the generator): " +
        late);
  }
  const std::string unsteady = runs_with([](const Figures& run) { return !run.steady && !run.interrupted; });
  if (!unsteady.empty()) warnings.push_back("not steady after the warm-up allowed by --warmup: " + unsteady);
  return warnings;
}

}  // namespace weir::loadgen
