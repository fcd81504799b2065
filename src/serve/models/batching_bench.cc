// How batching pays on a real model: single-text requests in a closed loop straight into a model's batcher, so that
// only batching, inference and pooling count.
//
//   weir_serve_models_batching_bench BUNDLE TEXTS [COUNT]
//
// TEXTS has a text a line. For every setting: texts per second, texts per second of processor time (comparable
// on a busy machine), the share of computed tokens that are padding, and the median and 99th percentile of latency.
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "base/log.h"
#include "serve/models/model.h"

namespace weir::serve::models {
namespace {

struct Setting {
  std::size_t concurrency;
  std::size_t max_tokens;
  std::size_t spread_tokens;
  double spread_share;
};

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  std::exit(1);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Keeps `concurrency` requests in the batcher until all texts have been computed.
class ClosedLoop {
 public:
  ClosedLoop(const std::vector<tokenizers::Encoding>& encodings, std::size_t concurrency)
      : encodings_(encodings), concurrency_(concurrency) {}

  BatchHooks hooks(Model& model) {
    BatchHooks hooks;
    hooks.taken = [this](const ModelView&, const Batch& batch) {
      const std::lock_guard lock(mutex_);
      padded_ += batch.size() * batch.back().tokens();
      for (const Item& item : batch) tokens_ += item.tokens();
    };
    hooks.computed = [this, &model](const ModelView&, Batch&& batch, const Result<HiddenRows>& rows) {
      if (!rows.ok()) fail(rows.error());
      for (const Item& item : batch) computed(model, *item.request);
    };
    return hooks;
  }

  void run(Model& model, const Setting& setting) {
    const double cpu = cpu_seconds();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < concurrency_; ++i) send(model);
    {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return latencies_ms_.size() == encodings_.size(); });
    }
    const double wall = std::chrono::duration<double>(Clock::now() - start).count();
    const double count = static_cast<double>(encodings_.size());
    std::sort(latencies_ms_.begin(), latencies_ms_.end());
    std::printf("| %zu | %zu | %zu, %.3f | %.1f | %.1f | %.1f %% | %.0f | %.0f |\n", setting.concurrency,
                setting.max_tokens, setting.spread_tokens, setting.spread_share, count / wall,
                count / (cpu_seconds() - cpu),
                100.0 * (1.0 - static_cast<double>(tokens_) / static_cast<double>(padded_)),
                latencies_ms_[latencies_ms_.size() / 2], latencies_ms_[latencies_ms_.size() * 99 / 100]);
    std::fflush(stdout);
  }

 private:
  void send(Model& model) {
    const auto request = std::make_shared<Request>();
    {
      const std::lock_guard lock(mutex_);
      if (next_ == encodings_.size()) return;
      request->encodings.push_back(encodings_[next_++]);
    }
    request->arrived = request->tokenized = Clock::now();
    if (const Status added = model.batcher().add(request); !added.ok()) fail(added.error());
  }
  void computed(Model& model, const Request& request) {
    send(model);
    const std::lock_guard lock(mutex_);
    latencies_ms_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - request.arrived).count());
    if (latencies_ms_.size() == encodings_.size()) done_.notify_all();
  }

  const std::vector<tokenizers::Encoding>& encodings_;
  const std::size_t concurrency_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::size_t next_ = 0;
  std::size_t tokens_ = 0;
  std::size_t padded_ = 0;
  std::vector<double> latencies_ms_;
};

std::vector<tokenizers::Encoding> encode_lines(const Model& model, const char* path, std::size_t count) {
  std::vector<tokenizers::Encoding> encodings;
  std::ifstream file(path);
  tokenizers::EncodeOptions options;
  options.max_tokens = model.view()->max_tokens;
  for (std::string line; encodings.size() < count && std::getline(file, line);) {
    encodings.push_back(model.view()->tokenizer->encode(line, options).value());
  }
  return encodings;
}

void measure(const ModelSource& source, const char* texts, std::size_t count, const Setting& setting) {
  ModelOptions options;
  options.self_test = false;
  options.batch.max_tokens = setting.max_tokens;
  options.batch.spread_tokens = setting.spread_tokens;
  options.batch.spread_share = setting.spread_share;
  auto opened = Model::open(source, options);
  if (!opened.ok()) fail(opened.error());
  const auto model = std::move(opened).value();
  metrics::Registry registry;
  std::vector<tokenizers::Encoding> encodings;
  ClosedLoop loop(encodings, setting.concurrency);
  if (const Status loaded = model->load(registry, loop.hooks(*model)); !loaded.ok()) fail(loaded.error());
  encodings = encode_lines(*model, texts, count);
  loop.run(*model, setting);
  model->close();
}

}  // namespace
}  // namespace weir::serve::models

int main(int argc, char** argv) {
  using namespace weir::serve;
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s BUNDLE TEXTS [COUNT]\n", argv[0]);
    return 2;
  }
  const ModelSource source{"", argv[1]};
  const std::size_t count = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 2000;
  weir::log::configure(weir::log::Level::kWarn, weir::log::Format::kText);
  std::puts("| clients | most padded tokens | spread | texts/s | texts/CPU s | padding | P50 ms | P99 ms |");
  std::puts("|---|---|---|---|---|---|---|---|");
  for (const std::size_t concurrency : {1, 10, 50, 100, 400}) {
    for (const std::size_t tokens : {64, 128, 256, 512, 1024, 2048, 4096}) {
      if (concurrency == 1 && tokens > 64) break;
      models::measure(source, argv[2], count, {concurrency, tokens, 8, 0.125});
    }
  }
  for (const double share : {0.0, 0.05, 0.25, 0.5, 1.0}) {
    models::measure(source, argv[2], count, {100, 512, static_cast<std::size_t>(share * 64), share});
  }
  return 0;
}
