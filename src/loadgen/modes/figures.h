// From what a run recorded to the figures that are reported.
#pragma once

#include <optional>
#include <string>

#include "loadgen/dialects/workload.h"
#include "loadgen/efficiency/efficiency.h"
#include "loadgen/load/run.h"
#include "loadgen/report/report.h"

namespace weir::loadgen {

/// What figures need to know beyond the run.
struct FigureBasis {
  double mean_tokens = 0;         ///< Of a text; 0: tokens are not known.
  double mean_square_tokens = 0;  ///< As above.
  std::optional<ModelShape> shape;
  std::optional<Peak> peak;  ///< With both of these, the share of the peak is told.
};

Figures figures_of(const RunResult& run, const FigureBasis& basis, const std::string& subject);

}  // namespace weir::loadgen
