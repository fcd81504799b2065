#include "loadgen/modes/session.h"

namespace weir::loadgen {

Error interrupted() { return {ErrorKind::kCancelled, "interrupted"}; }

Session Session::with_duration(Clock::duration duration) {
  Session shorter(spec_, hooks_, basis_, [this](const Figures& figures) { add(figures); });
  shorter.spec_.duration = duration;
  return shorter;
}

LoadSpec Session::with_clients(std::uint32_t clients) const {
  LoadSpec spec = spec_;
  spec.clients = clients;
  spec.rate = 0;
  spec.recorded.reset();
  return spec;
}

LoadSpec Session::with_rate(double rate) const {
  LoadSpec spec = spec_;
  spec.rate = rate;
  return spec;
}

void Session::add(const Figures& figures) {
  report_.runs.push_back(figures);
  if (figures.interrupted) report_.interrupted = true;
  row_done_(figures);
}

Result<Figures> Session::run(Subject& subject, const LoadSpec& spec, int server_threads) {
  RunHooks hooks = hooks_;
  hooks.usage = subject.usage;
  WEIR_ASSIGN_OR_RETURN(const RunResult result, run_load(*subject.target, spec, hooks));
  Figures measured = figures(result, subject);
  measured.server_threads = server_threads;
  add(measured);
  if (measured.interrupted) return interrupted();
  return measured;
}

}  // namespace weir::loadgen
