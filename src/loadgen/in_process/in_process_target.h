// A model in this process, without a server: the pipeline of `weir serve` with admission wide open. What it gives is
// the figure of the library, and the bound of what a server around it can reach.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "loadgen/dialects/workload.h"
#include "loadgen/target/driver.h"

namespace weir::loadgen {

struct InProcessOptions {
  std::string bundle;
  int instances = 0;  ///< 0: chosen as `weir serve` does, as is the next.
  int threads_per_instance = 0;
};

/// Loads the model and waits until it is ready. Errors as those of serve::Pipeline.
Result<std::unique_ptr<Target>> make_in_process_target(const InProcessOptions& options, const Workload& workload);

}  // namespace weir::loadgen
