#include "loadgen/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bundle/json_writer.h"

namespace weir::loadgen {
namespace {

using bundle::JsonWriter;

std::string exact(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.7g", std::isfinite(number) ? number : 0.0);
  return text;
}

void field(JsonWriter& json, std::string_view name, double number) {
  json.key(name);
  json.raw(exact(number));
}

void field(JsonWriter& json, std::string_view name, bool value) {
  json.key(name);
  json.boolean(value);
}

/// null when there is none.
void field(JsonWriter& json, std::string_view name, const std::optional<double>& number) {
  json.key(name);
  json.raw(number && std::isfinite(*number) ? exact(*number) : "null");
}

void texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& values) {
  json.key(name);
  json.open('[');
  for (const std::string& value : values) json.text(value);
  json.close(']');
}

void append_exact(std::string& out, double number) { out += exact(number); }

template <class Point, class Get>
void column(JsonWriter& json, std::string_view name, const std::vector<Point>& points, Get get) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const Point& point : points) values.push_back(get(point));
  json.key(name);
  json.line_of_numbers(values, append_exact);
}

void write_series(JsonWriter& json, const Figures& run) {
  json.key("series");
  json.open('{');
  column(json, "at_s", run.series, [](const SeriesPoint& point) { return point.at_s; });
  column(json, "requests_per_second", run.series, [](const SeriesPoint& point) { return point.requests_per_second; });
  column(json, "p50_ms", run.series, [](const SeriesPoint& point) { return point.p50_ms; });
  column(json, "p99_ms", run.series, [](const SeriesPoint& point) { return point.p99_ms; });
  column(json, "max_ms", run.series, [](const SeriesPoint& point) { return point.max_ms; });
  column(json, "failed", run.series, [](const SeriesPoint& point) { return static_cast<double>(point.failed); });
  column(json, "memory_at_s", run.memory, [](const MemoryPoint& point) { return point.at_s; });
  column(json, "resident_bytes", run.memory, [](const MemoryPoint& point) { return point.resident_bytes; });
  json.close('}');
}

void write_latency(JsonWriter& json, const Figures& run) {
  json.key("latency_ms");
  json.open('{');
  field(json, "p50", run.p50_ms);
  field(json, "p90", run.p90_ms);
  field(json, "p95", run.p95_ms);
  field(json, "p99", run.p99_ms);
  field(json, "p99_9", run.p999_ms);
  field(json, "max", run.max_ms);
  field(json, "mean", run.mean_ms);
  json.close('}');
}

void write_server(JsonWriter& json, const Figures& run) {
  json.key("server");
  json.open('{');
  field(json, "cpu_cores", run.cpu_cores);
  field(json, "cpu_us_per_token", run.cpu_us_per_token);
  field(json, "resident_bytes", run.resident_bytes);
  field(json, "share_of_peak", run.peak_share);
  json.close('}');
}

void write_run(JsonWriter& json, const Figures& run) {
  json.open('{');
  json.field("subject", run.subject);
  json.field("label", run.label);
  json.field("loop", run.open_loop ? "open" : "closed");
  field(json, "level", run.level);
  if (run.server_threads > 0) field(json, "server_threads", static_cast<double>(run.server_threads));
  field(json, "offered_per_second", run.offered_rate);
  field(json, "seconds", run.seconds);
  json.key("warm_up");
  json.open('{');
  field(json, "seconds", run.warm_up_seconds);
  field(json, "steady", run.steady);
  field(json, "first_request_ms", run.first_ms);
  field(json, "p99_ms", run.warm_up_p99_ms);
  json.close('}');
  field(json, "requests_per_second", run.requests_per_second);
  field(json, "texts_per_second", run.texts_per_second);
  field(json, "tokens_per_second", run.tokens_per_second);
  write_latency(json, run);
  json.field("answered", run.answered);
  json.key("failures");
  json.open('{');
  for (const auto& [name, count] : run.failures) json.field(name, count);
  json.close('}');
  field(json, "failed_share", run.failed_share);
  write_server(json, run);
  json.key("generator");
  json.open('{');
  field(json, "send_lag_p99_ms", run.send_lag_p99_ms);
  field(json, "cpu_share", run.generator_cpu_share);
  json.close('}');
  field(json, "interrupted", run.interrupted);
  write_series(json, run);
  json.close('}');
}

void write_finding(JsonWriter& json, const Finding& finding) {
  json.open('{');
  json.field("name", finding.name);
  json.field("text", finding.text);
  field(json, "value", finding.value);
  json.field("unit", finding.unit);
  field(json, "low", finding.low);
  field(json, "high", finding.high);
  field(json, "problem", finding.problem);
  json.close('}');
}

/// Right-aligned in `width` columns of a terminal.
std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string percent(double share) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

}  // namespace

bool Report::any_problem() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.problem; });
}

double Report::failed_share() const {
  double failed = 0;
  double answered = 0;
  for (const Figures& run : runs) {
    for (const auto& [name, count] : run.failures) failed += static_cast<double>(count);
    answered += static_cast<double>(run.answered);
  }
  return failed == 0 ? 0 : failed / (failed + answered);
}

std::string short_number(double number) {
  char text[40];
  const double size = std::abs(number);
  if (size >= 1000) {
    std::snprintf(text, sizeof text, "%.0f", number);
    std::string grouped = text;
    for (std::size_t at = grouped.size(); at > 3 + (number < 0 ? 1U : 0U);) grouped.insert(at -= 3, 1, ',');
    return grouped;
  }
  std::snprintf(text, sizeof text, "%.*f", size >= 99.95 ? 0 : (size >= 9.995 ? 1 : 2), number);
  return text;
}

std::string report_json(const Report& report) {
  JsonWriter json;
  json.open('{');
  json.field("format", "weir bench 1");
  json.field("mode", report.mode);
  json.field("weir_version", report.weir_version);
  json.field("started", report.started);
  json.field("machine", report.machine);
  texts(json, "subjects", report.subjects);
  json.field("workload", report.workload);
  field(json, "mean_tokens_per_text", report.mean_tokens);
  json.field("seed", report.seed);
  field(json, "generator_limit_requests_per_second", report.generator_limit);
  json.field("share_of_peak_is_of", report.efficiency_basis);
  json.key("findings");
  json.open('[');
  for (const Finding& finding : report.findings) write_finding(json, finding);
  json.close(']');
  texts(json, "warnings", report.warnings);
  field(json, "interrupted", report.interrupted);
  json.key("runs");
  json.open('[');
  for (const Figures& run : report.runs) write_run(json, run);
  json.close(']');
  json.close('}');
  return std::move(json).take();
}

std::string table_head(const Report& report) {
  std::string head;
  for (const std::string& subject : report.subjects) head += subject + "\n";
  head +=
      report.workload + (report.mean_tokens > 0 ? ", " + short_number(report.mean_tokens) + " tokens on average" : "");
  head += "\n\n" + padded("load", 20);
  for (const char* name : {"requests/s", "texts/s", "tokens/s"}) head += padded(name, 12);
  for (const char* name : {"P50 ms", "P90", "P95", "P99", "P99.9", "max"}) head += padded(name, 9);
  for (const char* name : {"failed", "cores", "µs/token", "RSS MiB", "of peak"}) {
    head += padded(name, std::string(name).starts_with("µ") ? 10 : 9);
  }
  return head + "\n";
}

std::string table_row(const Figures& run) {
  const auto optional = [](const std::optional<double>& number, double scale) {
    return number ? short_number(*number * scale) : std::string("-");
  };
  std::string row =
      padded((run.subject.empty() ? "" : run.subject + " ") +
                 (run.server_threads > 0 ? std::to_string(run.server_threads) + " threads, " : "") + run.label,
             20);
  row += padded(short_number(run.requests_per_second), 12) + padded(short_number(run.texts_per_second), 12);
  row += padded(run.tokens_per_second > 0 ? short_number(run.tokens_per_second) : "-", 12);
  for (const double ms : {run.p50_ms, run.p90_ms, run.p95_ms, run.p99_ms, run.p999_ms, run.max_ms}) {
    row += padded(short_number(ms), 9);
  }
  row += padded(run.failed_share > 0 ? percent(run.failed_share) : "0", 9) + padded(optional(run.cpu_cores, 1), 9);
  row += padded(optional(run.cpu_us_per_token, 1), 9) + padded(optional(run.resident_bytes, 1.0 / (1 << 20)), 9);
  row += padded(run.peak_share ? percent(*run.peak_share) : "-", 9) + "\n";
  if (run.failures.empty()) return row;
  std::string kinds;
  for (const auto& [name, count] : run.failures) {
    kinds += (kinds.empty() ? "" : ", ") + name + " " + std::to_string(count);
  }
  return row + std::string(20, ' ') + "  failed: " + kinds + "\n";
}

std::string closing_text(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings) text += (finding.problem ? "  ! " : "  - ") + finding.text + "\n";
  for (const std::string& warning : report.warnings) text += "  warning: " + warning + "\n";
  if (report.interrupted) text += "  interrupted: what was measured until then is above\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace weir::loadgen
