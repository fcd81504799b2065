#include "base/metrics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "base/utf8.h"

namespace weir::metrics {
namespace {

constexpr std::size_t kCacheLineBytes = 64;
/// More shards than a machine has busy threads would cost memory and reading time for nothing.
constexpr std::size_t kShards = 16;

std::size_t this_threads_shard() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

}  // namespace

struct Counter::Shards {
  struct alignas(kCacheLineBytes) Shard {
    std::atomic<std::uint64_t> value{0};
  };
  Shard shards[kShards];
};

Counter::Counter() : shards_(std::make_unique<Shards>()) {}
Counter::~Counter() = default;

void Counter::add(std::uint64_t n) {
  shards_->shards[this_threads_shard()].value.fetch_add(n, std::memory_order_relaxed);
}

std::uint64_t Counter::value() const {
  std::uint64_t sum = 0;
  for (const auto& shard : shards_->shards) sum += shard.value.load(std::memory_order_relaxed);
  return sum;
}

/// A shard has cache lines of its own: one with its sum, others with its buckets.
struct Histogram::Shards {
  static constexpr std::size_t kCells = kCacheLineBytes / sizeof(std::uint64_t);
  struct alignas(kCacheLineBytes) Line {
    std::atomic<std::uint64_t> cells[kCells] = {};
  };
  struct alignas(kCacheLineBytes) Shard {
    std::atomic<double> sum{0};
    std::vector<Line> lines;

    explicit Shard(std::size_t buckets) : lines((buckets + kCells - 1) / kCells) {}
    std::atomic<std::uint64_t>& bucket(std::size_t i) { return lines[i / kCells].cells[i % kCells]; }
  };

  explicit Shards(std::size_t buckets) {
    for (auto& shard : shards) shard = std::make_unique<Shard>(buckets);
  }
  std::unique_ptr<Shard> shards[kShards];
};

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), shards_(std::make_unique<Shards>(bounds_.size() + 1)) {
  assert(std::is_sorted(bounds_.begin(), bounds_.end()) && "histogram bounds must ascend");
  assert(std::all_of(bounds_.begin(), bounds_.end(), [](double b) { return std::isfinite(b); }));
}
Histogram::~Histogram() = default;

void Histogram::observe(double value) {
  const auto bucket = std::isnan(value) ? bounds_.end() : std::lower_bound(bounds_.begin(), bounds_.end(), value);
  auto& shard = *shards_->shards[this_threads_shard()];
  shard.bucket(static_cast<std::size_t>(bucket - bounds_.begin())).fetch_add(1, std::memory_order_relaxed);
  if (std::isfinite(value)) shard.sum.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot snapshot{bounds_, std::vector<std::uint64_t>(bounds_.size() + 1), 0, 0};
  for (const auto& shard : shards_->shards) {
    for (std::size_t i = 0; i < snapshot.buckets.size(); ++i) {
      snapshot.buckets[i] += shard->bucket(i).load(std::memory_order_relaxed);
    }
    snapshot.sum += shard->sum.load(std::memory_order_relaxed);
  }
  // From the buckets, so that the two agree however many threads are observing.
  for (const std::uint64_t bucket : snapshot.buckets) snapshot.count += bucket;
  return snapshot;
}

std::vector<double> exponential_bounds(double first, double factor, std::size_t count) {
  std::vector<double> bounds(count);
  double bound = first;
  for (double& entry : bounds) {
    entry = bound;
    bound *= factor;
  }
  return bounds;
}

namespace {

using prometheus::MetricType;

struct Series {
  Labels labels;
  std::unique_ptr<Counter> counter;
  std::unique_ptr<Gauge> gauge;
  std::unique_ptr<Histogram> histogram;
  const void* owner = nullptr;
  std::function<double()> read;
};

struct Family {
  std::string help;
  MetricType type = MetricType::Untyped;
  std::vector<std::unique_ptr<Series>> series;
};

[[maybe_unused]] bool is_name(std::string_view name, bool colon_allowed) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [colon_allowed](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (colon_allowed && c == ':');
  });
}

/// The serializer escapes label values but writes the help text as it is.
std::string escape_help(std::string_view help) {
  std::string out;
  for (const char c : help) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\\')
      out += "\\\\";
    else
      out += c;
  }
  return replace_invalid_utf8(out);
}

void fill(prometheus::ClientMetric::Histogram& out, const Histogram::Snapshot& snapshot) {
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < snapshot.buckets.size(); ++i) {
    cumulative += snapshot.buckets[i];
    const bool last = i == snapshot.bounds.size();
    out.bucket.push_back({cumulative, last ? HUGE_VAL : snapshot.bounds[i]});
  }
  out.sample_count = snapshot.count;
  out.sample_sum = snapshot.sum;
}

prometheus::ClientMetric collect(const Series& series, MetricType type) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : series.labels) metric.label.push_back({name, replace_invalid_utf8(value)});
  if (series.histogram != nullptr) {
    fill(metric.histogram, series.histogram->snapshot());
    return metric;
  }
  double value = 0;
  if (series.counter != nullptr) value = static_cast<double>(series.counter->value());
  if (series.gauge != nullptr) value = static_cast<double>(series.gauge->value());
  if (series.read) value = series.read();
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

}  // namespace

struct Registry::Impl {
  mutable std::mutex mutex;
  std::map<std::string, Family> families;

  /// The series of that name and labels, new and empty if there was none. The mutex is held.
  Series& series(const std::string& name, const std::string& help, MetricType type, const Labels& labels) {
    assert(is_name(name, true) && "not a Prometheus metric name");
    for ([[maybe_unused]] const auto& label : labels) {
      assert(is_name(label.first, false) && !label.first.starts_with("__") && "not a Prometheus label name");
    }
    Family& family = families[name];
    if (family.type == MetricType::Untyped) {
      family.type = type;
      family.help = escape_help(help);
    }
    assert(family.type == type && "a metric's name is registered with another type");
    for (const auto& entry : family.series) {
      if (entry->labels == labels) return *entry;
    }
    family.series.push_back(std::make_unique<Series>());
    family.series.back()->labels = labels;
    return *family.series.back();
  }

  void callback(const void* owner, const std::string& name, const std::string& help, MetricType type,
                const Labels& labels, std::function<double()> read) {
    const std::lock_guard lock(mutex);
    Series& entry = series(name, help, type, labels);
    assert(entry.counter == nullptr && entry.gauge == nullptr && "a metric cannot be both stored and a callback");
    entry.owner = owner;
    entry.read = std::move(read);
  }
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

Counter& Registry::counter(const std::string& name, const std::string& help, const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  Series& series = impl_->series(name, help, MetricType::Counter, labels);
  assert(!series.read && "a metric cannot be both stored and a callback");
  if (series.counter == nullptr) series.counter = std::make_unique<Counter>();
  return *series.counter;
}

Gauge& Registry::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  Series& series = impl_->series(name, help, MetricType::Gauge, labels);
  assert(!series.read && "a metric cannot be both stored and a callback");
  if (series.gauge == nullptr) series.gauge = std::make_unique<Gauge>();
  return *series.gauge;
}

Histogram& Registry::histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                               const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  Series& series = impl_->series(name, help, MetricType::Histogram, labels);
  if (series.histogram == nullptr) series.histogram = std::make_unique<Histogram>(bounds);
  return *series.histogram;
}

void Registry::gauge_callback(const void* owner, const std::string& name, const std::string& help, const Labels& labels,
                              std::function<double()> read) {
  impl_->callback(owner, name, help, MetricType::Gauge, labels, std::move(read));
}

void Registry::counter_callback(const void* owner, const std::string& name, const std::string& help,
                                const Labels& labels, std::function<double()> read) {
  impl_->callback(owner, name, help, MetricType::Counter, labels, std::move(read));
}

void Registry::remove_callbacks(const void* owner) {
  const std::lock_guard lock(impl_->mutex);
  for (auto family = impl_->families.begin(); family != impl_->families.end();) {
    std::erase_if(family->second.series, [owner](const auto& s) { return s->read && s->owner == owner; });
    family = family->second.series.empty() ? impl_->families.erase(family) : std::next(family);
  }
}

std::string Registry::text() const {
  std::vector<prometheus::MetricFamily> families;
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& [name, family] : impl_->families) {
      prometheus::MetricFamily out{name, family.help, family.type, {}};
      for (const auto& series : family.series) out.metric.push_back(collect(*series, family.type));
      families.push_back(std::move(out));
    }
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace weir::metrics
