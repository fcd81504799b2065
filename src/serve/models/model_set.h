// The models of the server, by name. Opened from their bundles at once, loaded one after the other on a thread of its
// own; a model that fails stays known with its reason, and the others are served.
//
// Thread-safe but for open, start_loading and close, which the owner (the pipeline) calls in this order.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "serve/models/model.h"

namespace weir::serve::models {

class ModelSet {
 public:
  /// Reads the manifests. kInvalidArgument: no source, or a name twice; else as bundle::load.
  static Result<std::unique_ptr<ModelSet>> open(const std::vector<ModelSource>& sources, const ModelOptions& options);
  ~ModelSet() { close(); }
  ModelSet(const ModelSet&) = delete;
  ModelSet& operator=(const ModelSet&) = delete;

  void start_loading(metrics::Registry& registry, BatchHooks hooks);
  /// Blocks until no model is loading; the first failure, if any.
  Status wait_loaded();
  /// Waits for the model being loaded, then closes all.
  void close();

  /// An empty name is the first model. kNotFound names the models there are.
  Result<Model*> find(const std::string& name) const;
  /// As find, but kUnavailable unless the model is ready.
  Result<Model*> find_ready(const std::string& name) const;
  bool all_ready() const;
  const std::vector<std::unique_ptr<Model>>& models() const { return models_; }

 private:
  ModelSet() = default;
  void load_all(metrics::Registry& registry, const BatchHooks& hooks);

  std::vector<std::unique_ptr<Model>> models_;  // not changed once opened
  std::mutex mutex_;
  std::condition_variable loaded_;
  bool closing_ = false;  // guarded by mutex_, as is the next
  bool loading_ = false;
  std::thread loader_;
};

}  // namespace weir::serve::models
