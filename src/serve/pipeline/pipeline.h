// The stages of a request in their order, for every model of the server:
//
//   admission → tokenize → batch → engine → pooling → done
//
// The only place that knows the order. Owns the threads of all stages but the front's. Used by the HTTP server and,
// with admission wide open, by `weir embed`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/sizing.h"
#include "serve/request/model_view.h"
#include "serve/request/request.h"

namespace weir::serve {

struct PipelineOptions {
  std::vector<ModelSource> models;  ///< At least one; the first is the default for requests that name none.

  // admission
  std::size_t permits = 200;
  std::size_t waiting_room = 100;
  Clock::duration max_wait = std::chrono::seconds(60);  ///< Longest time in the waiting room.

  // tokenize
  int tokenize_threads = 1;
  std::size_t max_inputs = 2048;              ///< Texts per request.
  std::uint32_t max_tokens = 0;               ///< Per text; 0: as the bundle says. May only lower it.
  std::size_t max_answer_tokens = 1'000'000;  ///< Of a request that asks for the tokens themselves.
  LongTextRule long_text;

  // batch
  Clock::duration window = std::chrono::milliseconds(5);
  std::size_t max_batch_requests = 32;  ///< Texts per batch.
  std::size_t max_batch_tokens = 0;     ///< Tokens per batch, padding included; 0: chosen from measurements.

  // engine: one entry per instance, from base/sizing
  int instances = 1;
  int threads_per_instance = 1;
  int packed_callers = 0;  ///< Threads that compute a packed model, each alone; 0: instances times threads.
  std::vector<std::vector<int>> instance_cpus;  ///< Pinning per instance; empty: not pinned.
  bool spinning = false;
  bool huge_pages = true;  ///< For weights of packed models.
  bool memory_pattern = false;
  std::size_t arena_limit_bytes = 0;

  bool self_test = true;  ///< Compare with the bundle's golden vectors before ready.

  /// Takes over the threads, instances, CPUs and memory that were chosen for this machine.
  void apply(const Sizing& sizing);
};

/// What is in front of the engine right now; true at the moment of the call.
struct Load {
  std::size_t concurrency = 0;  ///< Permits in use.
  std::size_t waiting = 0;      ///< Requests in the waiting room.
  int retry_after_s = 1;        ///< When a refused client should come back: what is ahead of it / the recent rate.
};

class Pipeline {
 public:
  /// Checks the options and reads the bundles' manifests (kInvalidArgument, kNotFound, kCorrupt …), then starts loading
  /// the models on a thread of its own and returns at once.
  static Result<std::unique_ptr<Pipeline>> start(const PipelineOptions& options, metrics::Registry& registry);
  ~Pipeline();  ///< As stop() with an expired deadline.
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Runs the request through the stages. `request->done` is called exactly once, on any thread, possibly before submit
  /// returns; after that `request->error` or `vectors` hold the outcome. Never blocks.
  void submit(const RequestPtr& request);

  /// The client is gone: what is left of the request's work is dropped and done() is called with kCancelled, unless it
  /// has been called already. Any thread, once submit() has returned.
  void cancel(const RequestPtr& request);

  Load load() const;

  /// True once every model is loaded, warmed up and has passed its self-test, until stop().
  bool ready() const;
  ModelState state(const std::string& model) const;
  /// Blocks until no model is loading; the first failure, if any.
  Status wait_loaded();

  std::vector<std::shared_ptr<const ModelView>> models() const;
  /// kNotFound names the models there are. An empty name is the default model.
  Result<std::shared_ptr<const ModelView>> find(const std::string& model) const;

  /// Refuses new requests (kUnavailable), lets admitted and waiting ones finish until the deadline, fails the rest,
  /// joins all threads. True when nothing had to be failed.
  bool stop(Deadline deadline);

 private:
  struct Impl;
  explicit Pipeline(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::serve
