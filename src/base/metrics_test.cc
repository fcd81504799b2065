#include "base/metrics.h"

#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace weir::metrics {
namespace {

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

/// The value of the sample that begins with `name `; NaN when there is none.
double sample(const std::string& text, const std::string& name) {
  const std::size_t at = ("\n" + text).find("\n" + name + " ");
  return at == std::string::npos ? std::nan("") : std::strtod(text.c_str() + at + name.size() + 1, nullptr);
}

template <class Work>
void on_threads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

TEST(Metrics, CounterSumsOverThreads) {
  Counter counter;
  on_threads(20, [&counter] {
    for (int i = 0; i < 1000; ++i) counter.add();
    counter.add(5);
  });
  EXPECT_EQ(counter.value(), 20u * 1005u);
}

TEST(Metrics, HistogramSumsOverThreads) {
  Histogram histogram({1, 2, 4});
  on_threads(20, [&histogram] {
    for (int i = 0; i < 100; ++i) {
      for (const double value : {0.5, 1.0, 1.5, 4.0, 4.5}) histogram.observe(value);
    }
  });
  const Histogram::Snapshot snapshot = histogram.snapshot();
  EXPECT_EQ(snapshot.buckets, (std::vector<std::uint64_t>{4000, 2000, 2000, 2000}));  // a bound belongs to its bucket
  EXPECT_EQ(snapshot.count, 10000u);
  EXPECT_DOUBLE_EQ(snapshot.sum, 2000 * 11.5);
}

TEST(Metrics, ValuesThatAreNotFiniteDoNotSpoilTheSum) {
  Histogram histogram({1, 2});
  histogram.observe(std::nan(""));
  histogram.observe(std::numeric_limits<double>::infinity());
  histogram.observe(-std::numeric_limits<double>::infinity());
  histogram.observe(1.5);
  const Histogram::Snapshot snapshot = histogram.snapshot();
  EXPECT_EQ(snapshot.buckets, (std::vector<std::uint64_t>{1, 1, 2}));
  EXPECT_EQ(snapshot.count, 4u);
  EXPECT_EQ(snapshot.sum, 1.5);
}

TEST(Metrics, HistogramWithManyBuckets) {
  Histogram histogram(exponential_bounds(1, 2, 20));
  for (int i = 0; i <= 20; ++i) histogram.observe(std::pow(2.0, i));
  EXPECT_EQ(histogram.snapshot().buckets, std::vector<std::uint64_t>(21, 1));
}

TEST(Metrics, ExponentialBounds) {
  EXPECT_EQ(exponential_bounds(0.5, 2, 4), (std::vector<double>{0.5, 1, 2, 4}));
  EXPECT_TRUE(exponential_bounds(1, 2, 0).empty());
}

TEST(Metrics, SameNameAndLabelsIsTheSameObject) {
  Registry registry;
  Counter& a = registry.counter("weir_x_total", "X.", {{"model", "a"}});
  EXPECT_EQ(&a, &registry.counter("weir_x_total", "Other help.", {{"model", "a"}}));
  EXPECT_NE(&a, &registry.counter("weir_x_total", "X.", {{"model", "b"}}));
  EXPECT_TRUE(has(registry.text(), "# HELP weir_x_total X."));
}

TEST(Metrics, TextOfEachType) {
  Registry registry;
  registry.counter("weir_requests_total", "Requests.", {{"code", "200"}}).add(3);
  registry.gauge("weir_waiting", "Waiting.").set(-2);
  Histogram& histogram = registry.histogram("weir_wait_seconds", "Wait.", {0.5, 1}, {{"stage", "batch"}});
  histogram.observe(0.25);
  histogram.observe(9);
  const std::string text = registry.text();
  EXPECT_TRUE(has(text, "# TYPE weir_requests_total counter"));
  EXPECT_TRUE(has(text, "weir_requests_total{code=\"200\"} 3"));
  EXPECT_TRUE(has(text, "# TYPE weir_waiting gauge"));
  EXPECT_TRUE(has(text, "weir_waiting -2"));
  EXPECT_TRUE(has(text, "# TYPE weir_wait_seconds histogram"));
  EXPECT_TRUE(has(text, "weir_wait_seconds_bucket{stage=\"batch\",le=\"0.5\"} 1")) << text;
  EXPECT_TRUE(has(text, "weir_wait_seconds_bucket{stage=\"batch\",le=\"1\"} 1"));
  EXPECT_TRUE(has(text, "weir_wait_seconds_bucket{stage=\"batch\",le=\"+Inf\"} 2"));
  EXPECT_TRUE(has(text, "weir_wait_seconds_count{stage=\"batch\"} 2"));
  EXPECT_TRUE(has(text, "weir_wait_seconds_sum{stage=\"batch\"} 9.25"));
}

TEST(Metrics, LabelsAndHelpAreEscaped) {
  Registry registry;
  registry.gauge("weir_g", "One\nline \\ only.", {{"model", "a\"b\\c\nd\xFF"}}).set(1);
  const std::string text = registry.text();
  EXPECT_TRUE(has(text, "# HELP weir_g One\\nline \\\\ only.")) << text;
  EXPECT_TRUE(has(text, "weir_g{model=\"a\\\"b\\\\c\\nd\xEF\xBF\xBD\"} 1")) << text;
}

TEST(Metrics, LargeCountersKeepTheirDigits) {
  Registry registry;
  registry.counter("weir_tokens_total", "Tokens.").add(123456789012345);
  EXPECT_EQ(sample(registry.text(), "weir_tokens_total"), 123456789012345.0) << registry.text();
}

TEST(Metrics, CallbacksAreReadAndRemovedByOwner) {
  Registry registry;
  int first = 0;
  int second = 0;
  registry.gauge_callback(&first, "weir_a", "A.", {{"m", "1"}}, [] { return 1.5; });
  registry.gauge_callback(&second, "weir_a", "A.", {{"m", "2"}}, [] { return std::nan(""); });
  registry.counter_callback(&first, "weir_b_total", "B.", {}, [] { return 7.0; });
  EXPECT_TRUE(has(registry.text(), "weir_a{m=\"1\"} 1.5"));
  EXPECT_TRUE(has(registry.text(), "weir_a{m=\"2\"} Nan"));
  EXPECT_TRUE(has(registry.text(), "# TYPE weir_b_total counter"));
  registry.remove_callbacks(&first);
  const std::string text = registry.text();
  EXPECT_EQ(text.find("m=\"1\""), std::string::npos);
  EXPECT_NE(text.find("m=\"2\""), std::string::npos);
  EXPECT_EQ(text.find("weir_b_total"), std::string::npos);
}

TEST(Metrics, ReadingWhileWritingAndRegistering) {
  Registry registry;
  Counter& counter = registry.counter("weir_n_total", "N.");
  Histogram& histogram = registry.histogram("weir_h", "H.", {1});
  std::thread reader([&registry] {
    for (int i = 0; i < 50; ++i) EXPECT_FALSE(registry.text().empty());
  });
  on_threads(3, [&] {
    for (int i = 0; i < 500; ++i) {
      counter.add();
      histogram.observe(i % 3);
      registry.gauge("weir_g", "G.", {{"i", std::to_string(i % 5)}}).add(1);
    }
  });
  reader.join();
  EXPECT_EQ(sample(registry.text(), "weir_n_total"), 1500);
  EXPECT_EQ(sample(registry.text(), "weir_h_count"), 1500);
  EXPECT_EQ(sample(registry.text(), "weir_g{i=\"0\"}"), 300);
}

TEST(Metrics, ProcessFiguresAreThisProcess) {
  Registry registry;
  register_process_metrics(registry, "1.2.3");
  const std::string text = registry.text();
  EXPECT_TRUE(has(text, "weir_build_info{version=\"1.2.3\"} 1"));
  EXPECT_GT(sample(text, "process_resident_memory_bytes"), 1e5);
  EXPECT_GT(sample(text, "process_virtual_memory_bytes"), sample(text, "process_resident_memory_bytes"));
  EXPECT_GE(sample(text, "process_cpu_seconds_total"), 0);
  EXPECT_GE(sample(text, "process_threads"), 1);
  EXPECT_GE(sample(text, "process_open_fds"), 3);
  EXPECT_GE(sample(text, "process_max_fds"), sample(text, "process_open_fds"));
  const double age_s = static_cast<double>(time(nullptr)) - sample(text, "process_start_time_seconds");
  EXPECT_GT(age_s, -5);
  EXPECT_LT(age_s, 3600);

  const double fds_before = sample(registry.text(), "process_open_fds");
  const int fd = dup(0);
  EXPECT_EQ(sample(registry.text(), "process_open_fds"), fds_before + 1);
  close(fd);
}

#ifndef NDEBUG
TEST(MetricsDeathTest, OneNameHasOneType) {
  Registry registry;
  registry.counter("weir_x", "X.");
  EXPECT_DEATH(registry.gauge("weir_x", "X."), "another type");
  EXPECT_DEATH(registry.counter("9x", "X."), "metric name");
  EXPECT_DEATH(registry.counter("weir_y", "Y.", {{"a-b", "c"}}), "label name");
}
#endif

}  // namespace
}  // namespace weir::metrics
