// One model of the server, from its bundle to instances that compute: the bundle, its tokenizer, its batcher and its
// engine. Loading happens on a thread of the ModelSet; requests are accepted once the model is ready, that is loaded,
// warmed up and in agreement with its golden vectors.
//
// state(), view(), failure() and batcher() may be called by any thread at any time; load() and close() once each, in
// this order, not at the same time. Owned by the ModelSet.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/metrics.h"
#include "base/result.h"
#include "bundle/bundle.h"
#include "serve/batch/batcher.h"
#include "serve/engine/engine.h"
#include "serve/request/model_view.h"

namespace weir::serve::models {

/// The same for every model of the server.
struct ModelOptions {
  batch::Options batch;              ///< Its bound on tokens and `packed` are set from the next and the bundle.
  std::size_t max_batch_tokens = 0;  ///< 0: the default of the bundle's layout.
  engine::Options engine;            ///< Its bounds on batches and tokens are set from `batch` and the bundle.
  std::uint32_t max_tokens = 0;      ///< Per text; 0: as the bundle says. May only lower it.
  bool self_test = true;             ///< Compare with the golden vectors before ready.
};

/// What happens around a batch; called on the instances' threads.
struct BatchHooks {
  std::function<void(const ModelView&, const Batch&)> taken;
  std::function<void(const ModelView&, Batch&&, const Result<HiddenRows>&)> computed;
};

class Model {
 public:
  /// Reads the bundle's manifest. Errors as bundle::load.
  static Result<std::unique_ptr<Model>> open(const ModelSource& source, const ModelOptions& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { close(); }

  /// Loads the tokenizer and the engine, runs the self-test, starts the instances. Blocks. On failure the model stays,
  /// in state kFailed with the error as its reason.
  Status load(metrics::Registry& registry, BatchHooks hooks);

  /// Ends the instances after the batches they are computing and frees what the model holds.
  void close();

  ModelState state() const;
  /// Why the model failed; ok in the other states.
  Status failure() const;
  ModelViewPtr view() const;
  batch::Batcher& batcher() { return batcher_; }

 private:
  Model(bundle::Bundle bundle, ModelOptions options, ModelViewPtr view);
  Status load_parts(metrics::Registry& registry);
  void start(BatchHooks hooks);

  const bundle::Bundle bundle_;
  const ModelOptions options_;
  batch::Batcher batcher_;
  std::unique_ptr<engine::Engine> engine_;  // of the thread that loads, then of the one that closes
  mutable std::mutex mutex_;
  ModelViewPtr view_;  // guarded by mutex_, as are the next
  ModelState state_ = ModelState::kLoading;
  Status failure_;
};

}  // namespace weir::serve::models
