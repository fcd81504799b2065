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
  const Sizing sizing = choose_sizing(machine, request);

  serve::PipelineOptions pipeline;
  pipeline.models = {{"", settings.model}};
  pipeline.permits = settings.permits;
  pipeline.waiting_room = pipeline.permits;
  pipeline.max_wait = std::chrono::hours(24 * 365);
  pipeline.tokenize_threads = sizing.tokenize_threads;
  pipeline.max_batch_tokens = settings.batch_tokens;
  pipeline.instances = sizing.instances;
  pipeline.threads_per_instance = sizing.threads_per_instance;
  pipeline.packed_callers = sizing.packed_callers;
  pipeline.instance_cpus = sizing.instance_cpus;
  pipeline.arena_limit_bytes = sizing.arena_limit_bytes;
  return pipeline;
}

}  // namespace weir::cli
