// Counters, gauges and histograms, and their Prometheus text. Written on hot paths by many threads, read seldom:
// counters and histograms are split into cache-line-aligned shards, one per writing thread (by thread number modulo the
// number of shards), and summed when read. Every object lives as long as its Registry; adding and observing never lock.
//
// Names follow Prometheus: `weir_` first, base units, counters end in `_total`, durations in `_seconds`. A label
// `stage` holds a stage's folder name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weir::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Counter {
 public:
  Counter();
  ~Counter();
  void add(std::uint64_t n = 1);
  std::uint64_t value() const;

 private:
  struct Shards;
  std::unique_ptr<Shards> shards_;
};

class Gauge {
 public:
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// Cumulative buckets with fixed upper bounds, as Prometheus has them. A value that is not finite is counted in the
/// bucket it belongs to (NaN in the last) but left out of the sum, which one such value would spoil for ever.
class Histogram {
 public:
  /// `bounds` ascend and are finite.
  explicit Histogram(std::vector<double> bounds);
  ~Histogram();
  void observe(double value);

  struct Snapshot {
    std::vector<double> bounds;          ///< Ascending; the last bucket, +Inf, has none.
    std::vector<std::uint64_t> buckets;  ///< Not cumulative; bounds.size() + 1 entries.
    std::uint64_t count = 0;
    double sum = 0;
  };
  Snapshot snapshot() const;

 private:
  struct Shards;
  std::vector<double> bounds_;
  std::unique_ptr<Shards> shards_;
};

/// `count` bounds, each `factor` times the one before.
std::vector<double> exponential_bounds(double first, double factor, std::size_t count);

/// Owns metrics by name and labels. Asking twice for the same name and labels gives the same object; the help text of
/// the first call stays. Thread-safe. One name with two types, or a name or label that Prometheus does not allow, is a
/// bug and asserts.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                       const Labels& labels = {});

  /// A gauge, or a counter, whose value is asked for when it is read. `read` must stay callable while the registry
  /// lives, or until remove_callbacks(owner) has returned. It must not call the registry.
  void gauge_callback(const void* owner, const std::string& name, const std::string& help, const Labels& labels,
                      std::function<double()> read);
  void counter_callback(const void* owner, const std::string& name, const std::string& help, const Labels& labels,
                        std::function<double()> read);
  void remove_callbacks(const void* owner);

  /// Prometheus text exposition format 0.0.4.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Process figures by their usual names (process_resident_memory_bytes, process_virtual_memory_bytes,
/// process_cpu_seconds_total, process_open_fds, process_max_fds, process_threads, process_start_time_seconds) and
/// weir_build_info{version}.
void register_process_metrics(Registry& registry, const std::string& version);

}  // namespace weir::metrics
