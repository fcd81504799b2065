// What all modes share: how to run one load on one server, and where its figures go.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "loadgen/load/run.h"
#include "loadgen/modes/figures.h"
#include "loadgen/modes/subject.h"
#include "loadgen/report/report.h"

namespace weir::loadgen {

class Session {
 public:
  /// `spec` is the template of every run; `row_done` shows the figures of each as soon as they are there.
  Session(LoadSpec spec, RunHooks hooks, FigureBasis basis, std::function<void(const Figures&)> row_done)
      : spec_(std::move(spec)), hooks_(std::move(hooks)), basis_(std::move(basis)), row_done_(std::move(row_done)) {}

  const LoadSpec& spec() const { return spec_; }
  const RunHooks& hooks() const { return hooks_; }
  Report& report() { return report_; }

  /// For searches before a long run: its runs are reported here as well, its findings are its own.
  Session with_duration(Clock::duration duration);

  LoadSpec with_clients(std::uint32_t clients) const;
  LoadSpec with_rate(double rate) const;

  /// Runs it and adds the figures to the report. Errors as run_load(); an interrupted run is reported, then kCancelled.
  Result<Figures> run(Subject& subject, const LoadSpec& spec, int server_threads = 0);

  /// The figures of a run that somebody else made.
  void add(const Figures& figures);
  Figures figures(const RunResult& result, const Subject& subject) const {
    return figures_of(result, basis_, subject.name);
  }

 private:
  LoadSpec spec_;
  RunHooks hooks_;
  FigureBasis basis_;
  std::function<void(const Figures&)> row_done_;
  Report report_;
};

/// The error with which modes end when the user stops them; the report holds what was measured.
Error interrupted();

}  // namespace weir::loadgen
