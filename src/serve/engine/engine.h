// The engine stage: one model's pool of instances. Each instance is a thread; it takes a batch of texts, computes it
// and hands the rows on. Of a padded model each has a session of its own, pinned to its own cores, and pads a batch to
// its longest text. Of a packed model there are as many instances as cores, which all compute with one session, each
// alone on its thread; a text that is alone in the engine is computed by a second session on the threads of all of
// them.
//
//   auto engine = Engine::load(options, bundle);     sessions loaded and warmed up; nothing is taken yet
//   engine->compute(encodings)                       for the self-test, on the caller's thread
//   engine->start(next, complete);                   instances take batches until next() says no more
//   engine->join();                                  blocks until they all have
//
// Owned by serve/models. load, compute, start and join are called by one thread, in this order; `next` and `complete`
// are called by all instances at once. Weights are shared: the mapped file by all, copies in huge pages and what ONNX
// Runtime packs anew by the instances of an engine.
//
// Texts whose request is finished (answered, expired, cancelled) are dropped before they cost anything. An error fails
// the batch it happened in, never the instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/metrics.h"
#include "base/result.h"
#include "bundle/bundle.h"
#include "serve/request/hidden_rows.h"
#include "serve/request/request.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve::engine {

struct Options {
  int instances = 1;
  int threads_per_instance = 1;                 ///< Includes the instance's own thread.
  int packed_callers = 0;                       ///< Instances of a packed model; 0: instances x threads.
  std::vector<std::vector<int>> instance_cpus;  ///< Logical CPUs, one list per instance; empty: not pinned.
  bool spinning = false;
  bool huge_pages = true;  ///< For a packed model's weights; see session::SharedWeights.
  bool memory_pattern = false;
  /// Of intermediate tensors, per instance; 0: unbounded. Instances share one arena of the process, so the bound that
  /// holds is this times `instances`, as the first engine of the process says.
  std::size_t arena_limit_bytes = 0;

  // The largest batch that next() gives: what warm-up prepares for.
  std::size_t max_batch_texts = 32;
  std::size_t max_batch_tokens = 4096;  ///< Padded: texts times the longest one. Packed: their sum.
  std::uint32_t max_tokens = 512;       ///< Of one text.

  /// Warm-up runs the largest batch, or one smaller where that would take longer than this.
  Clock::duration warm_up_limit = std::chrono::milliseconds(300);
};

class Engine {
 public:
  /// Waits for the next batch, not empty. False: no more, the instance ends. Called by every instance.
  using Next = std::function<bool(Batch&)>;
  /// What became of a batch: row i is item i, valid during the call; or that it failed, in words for clients. Texts of
  /// finished requests have been taken out of it; when none is left there is no call. Called on the instance's thread:
  /// pooling runs here.
  using Complete = std::function<void(Batch&&, const Result<HiddenRows>&)>;

  /// Loads and warms up every instance, each on its own thread. kInvalidArgument: options that contradict each other;
  /// kCorrupt: the graph's inputs or output are not those of the manifest; else as session::Session::load and run.
  static Result<std::unique_ptr<Engine>> load(const Options& options, const bundle::Bundle& bundle,
                                              metrics::Registry& registry);
  /// Joins; next() must have said false, or start() must not have been called.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Computes texts as one batch. Before start() only. The rows are valid until the next call or start().
  Result<HiddenRows> compute(std::span<const tokenizers::Encoding> texts);

  void start(Next next, Complete complete);
  void join();

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::serve::engine
