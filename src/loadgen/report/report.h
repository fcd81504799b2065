// What a load test found: the figures of each run, what follows from them, and what to mind. A value; the modes fill
// it, the writers beside this file show it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::loadgen {

/// Of a run's window, by when requests ended.
struct SeriesPoint {
  double at_s = 0;
  double requests_per_second = 0;
  double p50_ms = 0;  ///< 0 when nothing ended in the interval, as is the next.
  double p99_ms = 0;
  double max_ms = 0;
  std::uint64_t failed = 0;
};

struct MemoryPoint {
  double at_s = 0;
  double resident_bytes = 0;
};

/// One run.
struct Figures {
  std::string subject;     ///< Which server, where there are two; "A", "B".
  std::string label;       ///< "20 clients"
  double level = 0;        ///< Clients, or requests per second: where it stands on an axis.
  int server_threads = 0;  ///< Of a heat map; else 0.
  bool open_loop = false;
  double offered_rate = 0;  ///< Open loop: requests due per second, counted.

  double seconds = 0;
  double warm_up_seconds = 0;
  bool steady = false;
  double first_ms = 0;  ///< The first request of all: what a cold server takes.
  double warm_up_p99_ms = 0;

  double p50_ms = 0, p90_ms = 0, p95_ms = 0, p99_ms = 0, p999_ms = 0, max_ms = 0, mean_ms = 0;
  double requests_per_second = 0, texts_per_second = 0, tokens_per_second = 0;
  std::uint64_t answered = 0;
  std::map<std::string, std::uint64_t> failures;
  double failed_share = 0;

  std::optional<double> cpu_cores;         ///< Processor time of the server per second.
  std::optional<double> cpu_us_per_token;  ///< Needs the tokenizer.
  std::optional<double> resident_bytes;    ///< At the end.
  std::optional<double> peak_share;        ///< Operations done / operations the machine could have done.

  double send_lag_p99_ms = 0;
  double generator_cpu_share = 0;
  bool interrupted = false;
  double interval_seconds = 0;
  std::vector<SeriesPoint> series;
  std::vector<MemoryPoint> memory;
};

/// Something that follows from the runs.
struct Finding {
  std::string name;  ///< "knee", "memory_growth": the key for machines.
  std::string text;  ///< For people, the method included.
  double value = 0;
  std::string unit;
  std::optional<double> low;  ///< 95 % confidence interval.
  std::optional<double> high;
  bool problem = false;  ///< Exit status 4.
};

struct Report {
  std::string mode;
  std::string weir_version;
  std::string started;  ///< RFC 3339, UTC
  std::string machine;
  std::vector<std::string> subjects;
  std::string workload;
  double mean_tokens = 0;
  std::uint64_t seed = 1;
  std::optional<double> generator_limit;  ///< Requests per second that the generator reaches against a trivial server.
  std::string efficiency_basis;           ///< What peak_share is a share of; empty without.

  std::vector<Figures> runs;
  std::vector<Finding> findings;
  std::vector<std::string> warnings;
  bool interrupted = false;

  bool any_problem() const;
  /// Of all requests of all runs.
  double failed_share() const;
};

std::string report_json(const Report& report);

/// The table's head and rows for a terminal, each with its line end; a row that has failures has a second line.
std::string table_head(const Report& report);
std::string table_row(const Figures& figures);
/// Findings and warnings.
std::string closing_text(const Report& report);

/// One file that needs nothing from outside: tables, and curves as SVG.
std::string report_html(const Report& report);

/// "1.23", "45.6", "789", "12,345": three digits, for people.
std::string short_number(double number);

}  // namespace weir::loadgen
