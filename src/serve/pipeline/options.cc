#include "serve/pipeline/options.h"

#include <string>

namespace weir::serve {
namespace {

Status at_least(long long value, long long least, const std::string& flag) {
  if (value >= least) return {};
  return Error(ErrorKind::kInvalidArgument,
               flag + " is " + std::to_string(value) + "; it must be at least " + std::to_string(least), flag);
}

}  // namespace

void PipelineOptions::apply(const Sizing& sizing) {
  tokenize_threads = sizing.tokenize_threads;
  instances = sizing.instances;
  threads_per_instance = sizing.threads_per_instance;
  packed_callers = sizing.packed_callers;
  instance_cpus = sizing.instance_cpus;
  arena_limit_bytes = static_cast<std::size_t>(sizing.arena_limit_bytes);
}

Status check_options(const PipelineOptions& options) {
  WEIR_RETURN_IF_ERROR(at_least(static_cast<long long>(options.permits), 1, "--permits"));
  WEIR_RETURN_IF_ERROR(at_least(options.max_wait.count(), 1, "--max-wait"));
  WEIR_RETURN_IF_ERROR(at_least(options.tokenize_threads, 1, "--tokenize-threads"));
  WEIR_RETURN_IF_ERROR(at_least(static_cast<long long>(options.max_inputs), 1, "--max-inputs"));
  WEIR_RETURN_IF_ERROR(at_least(static_cast<long long>(options.max_answer_tokens), 1, "--max-answer-tokens"));
  WEIR_RETURN_IF_ERROR(at_least(options.window.count(), 0, "--batch-window"));
  WEIR_RETURN_IF_ERROR(at_least(static_cast<long long>(options.max_batch_requests), 1, "--max-batch-requests"));
  WEIR_RETURN_IF_ERROR(at_least(options.instances, 1, "--instances"));
  WEIR_RETURN_IF_ERROR(at_least(options.threads_per_instance, 1, "--threads"));
  return {};
}

admission::Options admission_options_of(const PipelineOptions& options) {
  admission::Options admission;
  admission.permits = options.permits;
  admission.waiting_room = options.waiting_room;
  return admission;
}

tokenize::Options tokenize_options_of(const PipelineOptions& options) {
  tokenize::Options tokenize;
  tokenize.threads = options.tokenize_threads;
  tokenize.max_inputs = options.max_inputs;
  tokenize.max_listed_tokens = options.max_answer_tokens;
  tokenize.long_text = options.long_text;
  return tokenize;
}

models::ModelOptions model_options_of(const PipelineOptions& options) {
  models::ModelOptions model;
  model.batch.max_texts = options.max_batch_requests;
  model.max_batch_tokens = options.max_batch_tokens;
  model.batch.window = options.window;
  model.engine.instances = options.instances;
  model.engine.threads_per_instance = options.threads_per_instance;
  model.engine.packed_callers = options.packed_callers;
  model.engine.instance_cpus = options.instance_cpus;
  model.engine.spinning = options.spinning;
  model.engine.huge_pages = options.huge_pages;
  model.engine.memory_pattern = options.memory_pattern;
  model.engine.arena_limit_bytes = options.arena_limit_bytes;
  model.max_tokens = options.max_tokens;
  model.self_test = options.self_test;
  return model;
}

}  // namespace weir::serve
