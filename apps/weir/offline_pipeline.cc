#include "apps/weir/offline_pipeline.h"

#include <algorithm>
#include <chrono>

#include "base/machine.h"
#include "base/sizing.h"

namespace weir::cli {

serve::PipelineOptions offline_pipeline_options(const OfflineSettings& settings) {
  const Machine machine = detect_machine();
  SizingRequest request;
  request.instances = settings.instances;
  request.threads_per_instance = settings.threads;
  if (request.instances == 0) {
    request.threads_per_instance = std::max(request.threads_per_instance, 1);
    request.instances = std::max(choose_sizing(machine).cores / request.threads_per_instance, 1);
  }

  serve::PipelineOptions pipeline;
  pipeline.models = {{"", settings.model}};
  pipeline.permits = settings.permits;
  pipeline.waiting_room = pipeline.permits;
  pipeline.max_wait = std::chrono::hours(24 * 365);
  pipeline.max_batch_tokens = settings.batch_tokens;
  pipeline.long_text = settings.long_text;
  pipeline.apply(choose_sizing(machine, request));
  return pipeline;
}

}  // namespace weir::cli
