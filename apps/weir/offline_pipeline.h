// The pipeline of `weir serve` for work from files, with admission wide open. Pure but for looking at the machine.
#pragma once

#include <cstddef>
#include <string>

#include "serve/pipeline/pipeline.h"

namespace weir::cli {

struct OfflineSettings {
  std::string model;             ///< The bundle.
  int instances = 0;             ///< 0: one per core.
  int threads = 0;               ///< 0: 1, or cores / instances.
  std::size_t batch_tokens = 0;  ///< 0: as measured to be best.
  std::size_t permits = 1;       ///< Requests at once.
  serve::LongTextRule long_text{};
};

/// For throughput the server's rule is turned around: an instance per core, since nobody waits for a single text.
serve::PipelineOptions offline_pipeline_options(const OfflineSettings& settings);

}  // namespace weir::cli
