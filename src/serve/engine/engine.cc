#include "serve/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>

#include "base/log.h"
#include "serve/engine/instance.h"
#include "session/session.h"

namespace weir::serve::engine {
namespace {

void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  const int code = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  if (code != 0) log::warn("engine: thread not pinned", {{"cpu", cpu}, {"reason", std::strerror(code)}});
}

Status check(const Options& options) {
  if (options.instances < 1) {
    return Error(ErrorKind::kInvalidArgument, "instances must be at least 1", "instances");
  }
  if (options.threads_per_instance < 1) {
    return Error(ErrorKind::kInvalidArgument, "threads per instance must be at least 1", "threads");
  }
  if (!options.instance_cpus.empty() && options.instance_cpus.size() != static_cast<std::size_t>(options.instances)) {
    return Error(ErrorKind::kInvalidArgument,
                 std::to_string(options.instance_cpus.size()) + " lists of CPUs for " +
                     std::to_string(options.instances) + " instances",
                 "instance_cpus");
  }
  return {};
}

/// What an engine counts, by model.
struct Counters {
  metrics::Counter& batches;
  metrics::Counter& failed_batches;
  metrics::Counter& texts;
  metrics::Counter& dropped_texts;
  metrics::Counter& tokens;
  metrics::Counter& padding;
  metrics::Histogram& seconds;

  Counters(metrics::Registry& registry, const std::string& model)
      : batches(registry.counter("weir_engine_batches_total", "Batches computed.", {{"model", model}})),
        failed_batches(registry.counter("weir_engine_failed_batches_total", "Batches whose computation failed.",
                                        {{"model", model}})),
        texts(registry.counter("weir_engine_texts_total", "Texts computed.", {{"model", model}})),
        dropped_texts(registry.counter("weir_engine_dropped_texts_total",
                                       "Texts dropped before computation because their request was finished.",
                                       {{"model", model}})),
        tokens(registry.counter("weir_engine_tokens_total", "Tokens computed, by kind.",
                                {{"model", model}, {"kind", "real"}})),
        padding(registry.counter("weir_engine_tokens_total", "Tokens computed, by kind.",
                                 {{"model", model}, {"kind", "padding"}})),
        seconds(registry.histogram("weir_engine_batch_seconds", "Time to compute a batch.",
                                   metrics::exponential_bounds(0.0005, 2, 16), {{"model", model}})) {}
};

/// Below this, starting the threads costs what they save (docs/performance.md).
constexpr std::size_t kLeastWideTokens = 16;

int count_instances(const Options& options, const bundle::Bundle& bundle) {
  if (bundle.manifest.layout == bundle::Layout::kPadded) return options.instances;
  return options.packed_callers > 0 ? options.packed_callers : options.instances * options.threads_per_instance;
}

}  // namespace

struct Engine::Impl {
  Options options;
  bundle::Bundle bundle;
  Counters counters;
  session::SharedWeights weights;     // outlives the instances
  Instance::PackedSessions sessions;  // empty for padded models
  std::atomic<int> busy{0};           // instances that compute
  std::vector<std::unique_ptr<Instance>> instances;
  std::vector<const tokenizers::Encoding*> compute_texts;

  std::mutex mutex;
  std::condition_variable changed;
  int loaded = 0;                ///< Instances that are warm, or failed.
  std::optional<Error> failure;  ///< The first instance's that failed.
  enum class Phase { kLoad, kRun, kEnd } phase = Phase::kLoad;
  Next next;
  Complete complete;
  std::vector<std::thread> threads;  // last: they use all of the above

  Impl(Options o, bundle::Bundle b, metrics::Registry& registry)
      : options(std::move(o)),
        bundle(std::move(b)),
        counters(registry, bundle.manifest.name),
        weights(options.huge_pages),
        instances(static_cast<std::size_t>(count_instances(options, bundle))) {}

  bool packed() const { return bundle.manifest.layout == bundle::Layout::kPacked; }
  session::Options session_options() const;
  std::vector<int> all_cpus() const;
  Status load_packed_sessions();

  Result<std::unique_ptr<Instance>> make_instance(std::size_t index);
  void thread_main(std::size_t index);
  Status wait_loaded();
  void enter(Phase next_phase);
  void join();
  void run(Instance& instance);
  void compute_batch(Instance& instance, Batch batch, std::vector<const tokenizers::Encoding*>& texts);
  void drop_finished(Batch& batch);
};

session::Options Engine::Impl::session_options() const {
  session::Options settings;
  settings.intra_op_threads = options.threads_per_instance;
  settings.spinning = options.spinning ? session::Spinning::kAlways : session::Spinning::kNever;
  settings.memory_pattern = options.memory_pattern;
  if (options.arena_limit_bytes > 0) {
    settings.arena = session::Arena::kProcess;
    settings.arena_limit_bytes = options.arena_limit_bytes * static_cast<std::size_t>(options.instances);
  }
  return settings;
}

std::vector<int> Engine::Impl::all_cpus() const {
  std::vector<int> cpus;
  for (const auto& list : options.instance_cpus) cpus.insert(cpus.end(), list.begin(), list.end());
  return cpus;
}

Status Engine::Impl::load_packed_sessions() {
  session::Options narrow = session_options();
  narrow.intra_op_threads = 1;
  session::Options wide = session_options();
  // A lone text's operators are shorter than it takes to wake a thread; between texts the threads sleep.
  if (wide.spinning == session::Spinning::kNever) wide.spinning = session::Spinning::kDuringRuns;
  wide.intra_op_threads = static_cast<int>(instances.size());
  if (const auto cpus = all_cpus(); cpus.size() == instances.size()) wide.cpus = cpus;
  WEIR_ASSIGN_OR_RETURN(sessions, Instance::load_packed(bundle, narrow, wide, weights));
  log::debug("engine: weights loaded",
             {{"model", bundle.manifest.name}, {"huge_page_bytes", weights.huge_page_bytes()}});
  return {};
}

Result<std::unique_ptr<Instance>> Engine::Impl::make_instance(std::size_t index) {
  std::unique_ptr<Instance> instance;
  if (packed()) {
    if (const auto cpus = all_cpus(); index < cpus.size()) pin_this_thread(cpus[index]);
    instance = std::make_unique<Instance>(bundle, sessions, options.max_batch_tokens);
  } else {
    session::Options settings = session_options();
    if (!options.instance_cpus.empty()) {
      settings.cpus = options.instance_cpus[index];
      if (!settings.cpus.empty()) pin_this_thread(settings.cpus.front());
    }
    WEIR_ASSIGN_OR_RETURN(instance, Instance::load(bundle, settings, weights, options.max_batch_tokens));
  }
  const BatchShape largest = bounded_shape({options.max_batch_texts, options.max_tokens},
                                           std::max<std::size_t>(options.max_batch_tokens, options.max_tokens));
  WEIR_RETURN_IF_ERROR(instance->warm_up(largest, options.warm_up_limit));
  if (sessions.wide != nullptr && index == 0) {
    WEIR_RETURN_IF_ERROR(instance->warm_up(largest, options.warm_up_limit, true));
  }
  return instance;
}

void Engine::Impl::thread_main(std::size_t index) {
  auto instance = make_instance(index);
  {
    std::unique_lock lock(mutex);
    if (instance.ok()) {
      instances[index] = std::move(instance).value();
    } else if (!failure) {
      failure = instance.error();
    }
    ++loaded;
    changed.notify_all();
    changed.wait(lock, [&] { return phase != Phase::kLoad; });
    if (phase == Phase::kEnd) return;
  }
  run(*instances[index]);
}

Status Engine::Impl::wait_loaded() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return loaded == static_cast<int>(instances.size()); });
  if (failure) return *failure;
  return {};
}

void Engine::Impl::enter(Phase next_phase) {
  const std::lock_guard lock(mutex);
  if (phase == Phase::kLoad) phase = next_phase;
  changed.notify_all();
}

void Engine::Impl::join() {
  for (auto& thread : threads) {
    if (thread.joinable()) thread.join();
  }
}

void Engine::Impl::run(Instance& instance) {
  std::vector<const tokenizers::Encoding*> texts;
  for (;;) {
    Batch batch;
    if (!next(batch)) return;
    drop_finished(batch);
    if (!batch.empty()) compute_batch(instance, std::move(batch), texts);
  }
}

void Engine::Impl::drop_finished(Batch& batch) {
  const auto dropped = std::erase_if(batch, [](const Item& item) { return item.request->is_finished(); });
  if (dropped > 0) counters.dropped_texts.add(dropped);
}

void Engine::Impl::compute_batch(Instance& instance, Batch batch, std::vector<const tokenizers::Encoding*>& texts) {
  texts.clear();
  std::size_t tokens = 0;
  Instance::Wanted wanted{.texts = false};
  for (const auto& item : batch) {
    item.request->stage.store(Stage::kEngine, std::memory_order_relaxed);
    texts.push_back(&item.encoding());
    tokens += item.tokens();
    (is_per_token(item.request->task, bundle.manifest) ? wanted.tokens : wanted.texts) = true;
  }
  const auto begin = Clock::now();
  const bool alone = busy.fetch_add(1, std::memory_order_relaxed) == 0 && texts.size() == 1;
  wanted.wide = alone && tokens >= kLeastWideTokens;
  Result<HiddenRows> rows = instance.compute(texts, wanted);
  busy.fetch_sub(1, std::memory_order_relaxed);
  counters.seconds.observe(std::chrono::duration<double>(Clock::now() - begin).count());
  counters.batches.add();
  if (rows.ok()) {
    counters.texts.add(batch.size());
    counters.tokens.add(tokens);
    if (rows->columns > 0) counters.padding.add(rows->rows * rows->columns - tokens);
  } else {
    counters.failed_batches.add();
    log::error("engine: batch failed",
               {{"model", bundle.manifest.name}, {"texts", batch.size()}, {"reason", rows.error().message}});
    rows = Error(ErrorKind::kBackend, "the model failed to compute this text; the server's log says why");
  }
  complete(std::move(batch), rows);
  instance.release();
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->enter(Impl::Phase::kEnd);
  impl_->join();
}

Result<std::unique_ptr<Engine>> Engine::load(const Options& options, const bundle::Bundle& bundle,
                                             metrics::Registry& registry) {
  WEIR_RETURN_IF_ERROR(check(options));
  std::unique_ptr<Engine> engine(new Engine(std::make_unique<Impl>(options, bundle, registry)));
  Impl& impl = *engine->impl_;
  if (impl.packed()) WEIR_RETURN_IF_ERROR(impl.load_packed_sessions());
  try {
    for (std::size_t i = 0; i < impl.instances.size(); ++i) {
      impl.threads.emplace_back([&impl, i] { impl.thread_main(i); });
    }
  } catch (const std::system_error& error) {
    return Error(ErrorKind::kBackend, std::string("no thread for an instance: ") + error.what());
  }
  WEIR_RETURN_IF_ERROR(impl.wait_loaded());
  return engine;
}

Result<HiddenRows> Engine::compute(std::span<const tokenizers::Encoding> texts) {
  assert(impl_->phase == Impl::Phase::kLoad);
  impl_->compute_texts.clear();
  for (const auto& text : texts) impl_->compute_texts.push_back(&text);
  return impl_->instances.front()->compute(impl_->compute_texts, {});
}

void Engine::start(Next next, Complete complete) {
  impl_->next = std::move(next);
  impl_->complete = std::move(complete);
  impl_->instances.front()->release();
  impl_->enter(Impl::Phase::kRun);
}

void Engine::join() { impl_->join(); }

}  // namespace weir::serve::engine
