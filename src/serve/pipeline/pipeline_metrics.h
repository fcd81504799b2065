// What the pipeline counts. Names, labels and meanings: docs/metrics.md. Counted by the pipeline at the hand-over
// between stages, so that the stages need not know of metrics. Thread-safe; lives as long as the pipeline, the metrics
// themselves as long as the registry.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/metrics.h"
#include "serve/admission/gate.h"
#include "serve/models/model_set.h"
#include "serve/request/request.h"
#include "serve/tokenize/tokenize.h"

namespace weir::serve {

class PipelineMetrics {
 public:
  PipelineMetrics(metrics::Registry& registry, const models::ModelSet& models);
  PipelineMetrics(const PipelineMetrics&) = delete;
  PipelineMetrics& operator=(const PipelineMetrics&) = delete;

  /// Gauges that are read from the stages when somebody asks: always what Pipeline::load() says.
  void watch(const admission::Gate& gate, const admission::Options& limits, const tokenize::TokenizeStage& tokenize,
             const models::ModelSet& models);

  /// Before the stages go.
  void unwatch() { registry_.remove_callbacks(this); }

  /// A request has ended, well or not.
  void finished(const Request& request);
  /// An instance took a batch. The engine counts what it computes itself.
  void batch_taken(const ModelView& model, const Batch& batch);

 private:
  struct PerModel {
    metrics::Counter* succeeded;
    metrics::Counter* texts;
    metrics::Counter* tokens;
    metrics::Counter* dropped_texts;
    metrics::Histogram* batch_texts;
  };
  PerModel make(const std::string& model);
  void succeeded(const Request& request);
  void failed(const Request& request);

  metrics::Registry& registry_;
  std::unordered_map<std::string, PerModel> per_model_;  // by name; not changed once built
  metrics::Histogram* waiting_;
  metrics::Histogram* tokenize_;
  metrics::Histogram* batch_;
  metrics::Histogram* engine_;
};

}  // namespace weir::serve
