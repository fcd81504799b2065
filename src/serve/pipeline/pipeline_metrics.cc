#include "serve/pipeline/pipeline_metrics.h"

#include <utility>

namespace weir::serve {
namespace {

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

metrics::Histogram* stage_histogram(metrics::Registry& registry, Stage stage) {
  return &registry.histogram("weir_stage_duration_seconds", "Time a request spent in a stage, waiting included",
                             metrics::exponential_bounds(0.0001, 2, 20),  // 0.1 ms to 52 s
                             {{"stage", std::string(stage_name(stage))}});
}

metrics::Counter& requests(metrics::Registry& registry, const std::string& model, std::string_view outcome) {
  return registry.counter("weir_requests_total", "Requests that ended, by outcome",
                          {{"model", model}, {"outcome", std::string(outcome)}});
}

}  // namespace

PipelineMetrics::PipelineMetrics(metrics::Registry& registry, const models::ModelSet& models)
    : registry_(registry),
      waiting_(stage_histogram(registry, Stage::kAdmission)),
      tokenize_(stage_histogram(registry, Stage::kTokenize)),
      batch_(stage_histogram(registry, Stage::kBatch)),
      engine_(stage_histogram(registry, Stage::kEngine)) {
  for (const auto& model : models.models()) per_model_.emplace(model->view()->name, make(model->view()->name));
}

PipelineMetrics::PerModel PipelineMetrics::make(const std::string& model) {
  const metrics::Labels labels = {{"model", model}};
  return {
      &requests(registry_, model, "ok"),
      &registry_.counter("weir_texts_total", "Texts of requests that ended well", labels),
      &registry_.counter("weir_tokens_total", "Tokens of requests that ended well, after truncation", labels),
      &registry_.counter("weir_texts_dropped_total", "Texts not computed because their request had failed", labels),
      &registry_.histogram("weir_batch_texts", "Texts of a batch", {1, 2, 4, 8, 16, 32, 64, 128}, labels),
  };
}

void PipelineMetrics::watch(const admission::Gate& gate, const admission::Options& limits,
                            const tokenize::TokenizeStage& tokenize, const models::ModelSet& models) {
  const auto gauge = [this](const char* name, const char* help, const metrics::Labels& labels,
                            std::function<double()> read) {
    registry_.gauge_callback(this, name, help, labels, std::move(read));
  };
  const auto constant = [](std::size_t value) { return [value] { return static_cast<double>(value); }; };
  gauge("weir_admission_permits", "Requests that may be served at once", {}, constant(limits.permits));
  gauge("weir_admission_waiting_room", "Requests that may wait for a permit", {}, constant(limits.waiting_room));
  gauge("weir_admission_concurrency", "Permits in use", {},
        [&gate] { return static_cast<double>(gate.numbers().concurrency); });
  gauge("weir_admission_waiting", "Requests in the waiting room", {},
        [&gate] { return static_cast<double>(gate.numbers().waiting); });
  gauge("weir_tokenize_queue_requests", "Requests being tokenized or waiting for it", {},
        [&tokenize] { return static_cast<double>(tokenize.depth()); });
  for (const auto& owned : models.models()) {
    models::Model* const model = owned.get();
    const metrics::Labels labels = {{"model", model->view()->name}};
    gauge("weir_batch_queue_texts", "Texts waiting for a batch", labels,
          [model] { return static_cast<double>(model->batcher().depth()); });
    gauge("weir_model_ready", "1 while the model is served", labels,
          [model] { return model->state() == ModelState::kReady ? 1.0 : 0.0; });
  }
}

void PipelineMetrics::finished(const Request& request) {
  if (request.error) {
    failed(request);
  } else {
    succeeded(request);
  }
}

void PipelineMetrics::succeeded(const Request& request) {
  const PerModel& model = per_model_.at(request.view->name);
  model.succeeded->add();
  model.texts->add(request.inputs.size());
  model.tokens->add(request.tokens);
  waiting_->observe(seconds(request.timings.waiting));
  tokenize_->observe(seconds(request.timings.tokenize));
  if (!computes(request.task)) return;
  batch_->observe(seconds(request.timings.queue));
  engine_->observe(seconds(request.timings.inference));
}

void PipelineMetrics::failed(const Request& request) {
  // What a client calls a model that there is not must not become a label.
  const std::string model = request.view ? request.view->name : "";
  if (request.view) {
    const bool tokenized = request.stage.load() >= Stage::kBatch;
    per_model_.at(model).dropped_texts->add(tokenized ? request.remaining.load() : request.inputs.size());
  }
  const std::string reason(error_kind_name(request.error->kind));
  requests(registry_, model, reason).add();
  registry_
      .counter("weir_requests_failed_total", "Requests that failed, by the stage they were in and the reason",
               {{"stage", std::string(stage_name(request.stage.load(std::memory_order_relaxed)))}, {"reason", reason}})
      .add();
}

void PipelineMetrics::batch_taken(const ModelView& view, const Batch& batch) {
  per_model_.at(view.name).batch_texts->observe(static_cast<double>(batch.size()));
}

}  // namespace weir::serve
