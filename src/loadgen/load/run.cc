#include "loadgen/load/run.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

#include "loadgen/load/load_thread.h"
#include "loadgen/load/warm_up.h"

namespace weir::loadgen {
namespace {

constexpr Clock::duration kTick = std::chrono::milliseconds(20);
constexpr Clock::duration kProgressEvery = std::chrono::milliseconds(250);
// A window begins a moment after the decision, so that all threads know of it before.
constexpr Clock::duration kAnnounce = std::chrono::milliseconds(25);
constexpr std::size_t kMostIntervals = 1200;

double to_seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::int64_t ticks(Clock::time_point at) { return at.time_since_epoch().count(); }

/// The requests in an order that the seed decides.
std::shared_ptr<const std::vector<std::uint32_t>> make_order(std::size_t requests, std::uint64_t seed) {
  std::vector<std::uint32_t> order(requests);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  // Fisher and Yates's, written out: std::shuffle may differ between libraries.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return std::make_shared<const std::vector<std::uint32_t>>(std::move(order));
}

struct Counts {
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  std::int64_t latency_ns = 0;
};

class Run {
 public:
  Run(Target& target, const LoadSpec& spec, const RunHooks& hooks)
      : target_(target), spec_(spec), hooks_(hooks), interval_(interval_of(spec.duration)) {}
  ~Run() { join(true); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<RunResult> run();

 private:
  Status start_threads();
  Status warm_up();
  void measure();
  void join(bool at_once);
  Counts counts() const;
  void tell_progress(bool warming_up, Clock::duration of);
  void sample_usage(Clock::time_point begin);
  Status nothing_answered();
  Recording merged() const;

  Target& target_;
  const LoadSpec spec_;
  const RunHooks& hooks_;
  const Clock::duration interval_;
  Control control_;
  std::vector<std::unique_ptr<LoadThread>> loads_;
  std::vector<std::thread> threads_;
  RunResult result_;
  Clock::time_point phase_began_{};
  Clock::time_point next_progress_{};
  Clock::time_point last_progress_{};
  Counts last_counts_;
};

Status Run::start_threads() {
  const auto order = make_order(target_.requests().size(), spec_.seed);
  const auto threads = static_cast<std::uint32_t>(spec_.threads);
  const std::uint32_t slots = spec_.open_loop() ? spec_.most_connections : spec_.clients;
  for (std::uint32_t i = 0; i < threads; ++i) {
    const std::uint32_t share = slots / threads + (i < slots % threads ? 1 : 0);
    if (share == 0) continue;
    WEIR_ASSIGN_OR_RETURN(auto driver, target_.open(share));
    loads_.push_back(std::make_unique<LoadThread>(spec_, i, share, target_, order, std::move(driver),
                                                  Recorder(interval_, kMostIntervals)));
  }
  for (const auto& load : loads_) threads_.emplace_back([this, &load = *load] { load.run(control_); });
  return {};
}

Counts Run::counts() const {
  Counts sum;
  for (const auto& load : loads_) {
    sum.answered += load->pulse().answered.load(std::memory_order_relaxed);
    sum.failed += load->pulse().failed.load(std::memory_order_relaxed);
    sum.latency_ns += load->pulse().latency_ns.load(std::memory_order_relaxed);
  }
  return sum;
}

void Run::tell_progress(bool warming_up, Clock::duration of) {
  const Clock::time_point now = Clock::now();
  if (!hooks_.progress || now < next_progress_) return;
  const Counts current = counts();
  RunProgress progress;
  progress.warming_up = warming_up;
  progress.seconds = to_seconds(now - phase_began_);
  progress.total_seconds = to_seconds(of);
  const auto answered = static_cast<double>(current.answered - last_counts_.answered);
  progress.requests_per_second = answered / std::max(to_seconds(now - last_progress_), 1e-9);
  if (answered > 0)
    progress.mean_ms = static_cast<double>(current.latency_ns - last_counts_.latency_ns) / answered / 1e6;
  progress.failed = current.failed;
  hooks_.progress(progress);
  last_counts_ = current;
  last_progress_ = now;
  next_progress_ = now + kProgressEvery;
}

Status Run::nothing_answered() {
  join(true);
  std::string kinds;
  OutcomeCounts outcomes = merged().warm_up_outcomes;
  outcomes.merge(merged().outcomes);
  for (const auto& [name, count] : outcomes.failures()) {
    kinds += (kinds.empty() ? "" : ", ") + name + " " + std::to_string(count);
  }
  return Error(ErrorKind::kUnavailable, target_.describe() + ": no request was answered" +
                                            (kinds.empty() ? " and none failed within the time given" : ": " + kinds));
}

Status Run::warm_up() {
  constexpr Clock::duration kHopeless = std::chrono::seconds(1);
  const Clock::duration step = std::clamp<Clock::duration>(spec_.most_warm_up / 20, std::chrono::milliseconds(50),
                                                           std::chrono::milliseconds(500));
  WarmUpRule rule;
  phase_began_ = last_progress_ = Clock::now();
  Clock::time_point next_step = phase_began_ + step;
  const Clock::time_point end = phase_began_ + spec_.most_warm_up;
  while (!result_.warm_up.steady && Clock::now() < end) {
    if (hooks_.wait(kTick)) {
      result_.interrupted = true;
      break;
    }
    const Clock::time_point now = Clock::now();
    const Counts current = counts();
    if (current.answered == 0 && current.failed > 0 && now - phase_began_ > kHopeless) return nothing_answered();
    if (now >= next_step) {
      result_.warm_up.steady = rule.step(current.answered);
      next_step += step;
    }
    tell_progress(true, spec_.most_warm_up);
  }
  result_.warm_up.seconds = to_seconds(Clock::now() - phase_began_);
  return {};
}

void Run::sample_usage(Clock::time_point begin) {
  if (!hooks_.usage) return;
  std::optional<UsageSample> sample = hooks_.usage();
  if (!sample) return;
  sample->at_s = to_seconds(Clock::now() - begin);
  result_.usage.push_back(*sample);
}

void Run::measure() {
  const Clock::time_point begin = Clock::now() + kAnnounce;
  Clock::time_point end = begin + spec_.duration;
  control_.window_end.store(ticks(end), std::memory_order_release);
  control_.window_begin.store(ticks(begin), std::memory_order_release);
  phase_began_ = begin;
  bool stop = hooks_.wait(kAnnounce);
  sample_usage(begin);
  Clock::time_point next_sample = begin + interval_;
  while (!stop && Clock::now() < end) {
    stop = hooks_.wait(std::min<Clock::duration>(kTick, end - Clock::now()));
    if (Clock::now() >= next_sample) {
      sample_usage(begin);
      next_sample += interval_;
    }
    tell_progress(false, spec_.duration);
  }
  if (stop) {
    end = std::max(Clock::now(), begin);
    control_.window_end.store(ticks(end), std::memory_order_release);
    result_.interrupted = true;
  }
  if (!result_.usage.empty()) sample_usage(begin);
  result_.seconds = to_seconds(end - begin);
}

void Run::join(bool at_once) {
  if (at_once) control_.stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Recording Run::merged() const {
  Recording recording;
  for (const auto& load : loads_) recording.merge(load->recording());
  return recording;
}

Result<RunResult> Run::run() {
  result_.spec = spec_;
  WEIR_RETURN_IF_ERROR(start_threads());
  WEIR_RETURN_IF_ERROR(warm_up());
  if (!result_.interrupted) measure();
  join(result_.interrupted);
  result_.interval_seconds = to_seconds(interval_);
  result_.recording = merged();
  for (const auto& load : loads_) {
    result_.generator_cpu_share = std::max(result_.generator_cpu_share, load->cpu_share());
  }
  const bool none = result_.recording.outcomes.answered() + result_.recording.warm_up_outcomes.answered() == 0;
  if (none && !result_.interrupted) return nothing_answered().error();
  return result_;
}

}  // namespace

std::string LoadSpec::label() const {
  if (!open_loop()) return std::to_string(clients) + (clients == 1 ? " client" : " clients");
  char text[48];
  std::snprintf(text, sizeof text, "%.*f requests/s", offered_rate() < 100 ? 1 : 0, offered_rate());
  return text;
}

Clock::duration interval_of(Clock::duration window) {
  const Clock::duration quarter = std::chrono::milliseconds(250);
  const Clock::duration many = window / static_cast<std::int64_t>(kMostIntervals);
  return std::max<Clock::duration>(std::max(std::min<Clock::duration>(quarter, window / 60), many),
                                   std::chrono::milliseconds(1));
}

Result<RunResult> run_load(Target& target, const LoadSpec& spec, const RunHooks& hooks) {
  return Run(target, spec, hooks).run();
}

}  // namespace weir::loadgen
