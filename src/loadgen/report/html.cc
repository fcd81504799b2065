// The report as one HTML file. Curves are drawn as SVG here, so that the file needs nothing from outside and can be
// kept for years.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "loadgen/report/report.h"

namespace weir::loadgen {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 260;
constexpr double kLeft = 64;
constexpr double kRight = 12;
constexpr double kTop = 12;
constexpr double kBottom = 36;
constexpr const char* kColours[] = {"#1b6ca8", "#c8553d", "#2e8b57", "#8a4fa3", "#b8860b", "#555555"};

constexpr char kStyle[] =
    "body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:1100px;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;font-size:13px}th,td{padding:3px 9px;text-align:right;border-bottom:1px solid #ddd}"
    "th:first-child,td:first-child{text-align:left}h2{margin-top:1.6em}svg{max-width:100%;height:auto}"
    ".problem{color:#a40000;font-weight:600}.warning{color:#8a5a00}text{font-size:11px;fill:#444}";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Axis {
  std::string title;
  bool logarithmic = false;
  double low = 0;
  double high = 1;

  /// 0 at the low end, 1 at the high one.
  double place(double value) const {
    if (logarithmic) return (std::log(std::max(value, low)) - std::log(low)) / (std::log(high) - std::log(low));
    return (value - low) / (high - low);
  }
};

/// Values at which the axis is marked.
std::vector<double> marks(const Axis& axis) {
  std::vector<double> at;
  if (axis.logarithmic) {
    for (double power = std::pow(10, std::floor(std::log10(axis.low))); power <= axis.high; power *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (power * factor >= axis.low * 0.999 && power * factor <= axis.high * 1.001) at.push_back(power * factor);
      }
    }
    return at;
  }
  const double rough = (axis.high - axis.low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (rough > step) step = power * factor;
  }
  for (double value = std::ceil(axis.low / step) * step; value <= axis.high * 1.0001; value += step)
    at.push_back(value);
  return at;
}

void fit(Axis& axis, const std::vector<Curve>& curves, bool horizontal) {
  double low = 0;
  double high = 0;
  bool any = false;
  for (const Curve& curve : curves) {
    for (const auto& [x, y] : curve.points) {
      const double value = horizontal ? x : y;
      if (axis.logarithmic && value <= 0) continue;
      low = any ? std::min(low, value) : value;
      high = any ? std::max(high, value) : value;
      any = true;
    }
  }
  axis.low = axis.logarithmic ? (any ? low : 1) : std::min(low, 0.0);
  axis.high = any ? high : 1;
  if (axis.high <= axis.low) axis.high = axis.low + (axis.logarithmic ? axis.low : 1);
}

double x_of(const Axis& axis, double value) { return kLeft + axis.place(value) * (kWidth - kLeft - kRight); }
double y_of(const Axis& axis, double value) {
  return kHeight - kBottom - axis.place(value) * (kHeight - kTop - kBottom);
}

std::string grid(const Axis& x, const Axis& y) {
  std::string svg;
  const std::string floor = coordinate(kHeight - kBottom);
  for (const double value : marks(x)) {
    const std::string at = coordinate(x_of(x, value));
    svg += "<line x1='" + at + "' x2='" + at + "' y1='" + coordinate(kTop) + "' y2='" + floor + "' stroke='#eee'/>";
    svg += "<text x='" + at + "' y='" + coordinate(kHeight - kBottom + 14) + "' text-anchor='middle'>" +
           short_number(value) + "</text>";
  }
  for (const double value : marks(y)) {
    const std::string at = coordinate(y_of(y, value));
    svg += "<line x1='" + coordinate(kLeft) + "' x2='" + coordinate(kWidth - kRight) + "' y1='" + at + "' y2='" + at +
           "' stroke='#eee'/>";
    svg += "<text x='" + coordinate(kLeft - 6) + "' y='" + coordinate(y_of(y, value) + 4) + "' text-anchor='end'>" +
           short_number(value) + "</text>";
  }
  svg += "<text x='" + coordinate((kWidth + kLeft) / 2) + "' y='" + coordinate(kHeight - 4) +
         "' text-anchor='middle'>" + escaped(x.title) + "</text>";
  return svg + "<text transform='translate(14 " + coordinate((kHeight - kBottom) / 2) +
         ") rotate(-90)' text-anchor='middle'>" + escaped(y.title) + "</text>";
}

std::string chart(const std::string& title, const std::vector<Curve>& curves, Axis x, Axis y) {
  fit(x, curves, true);
  fit(y, curves, false);
  std::string svg = "<figure><figcaption>" + escaped(title) +
                    "</figcaption><svg viewBox='0 0 640 260' width='640' role='img'>" + grid(x, y);
  std::string legend;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string colour = kColours[i % std::size(kColours)];
    std::string path;
    for (const auto& [at_x, at_y] : curves[i].points) {
      if ((x.logarithmic && at_x <= 0) || (y.logarithmic && at_y <= 0)) continue;
      path += (path.empty() ? "M" : "L") + coordinate(x_of(x, at_x)) + " " + coordinate(y_of(y, at_y));
    }
    svg += "<path d='" + path + "' fill='none' stroke='" + colour + "' stroke-width='1.6'/>";
    legend += "<span style='color:" + colour + "'>&#9632; " + escaped(curves[i].name) + "</span> &nbsp; ";
  }
  return svg + "</svg><div>" + legend + "</div></figure>\n";
}

/// The runs of each subject in the order of their levels.
std::vector<std::pair<std::string, std::vector<const Figures*>>> by_subject(const Report& report) {
  std::vector<std::pair<std::string, std::vector<const Figures*>>> groups;
  for (const Figures& run : report.runs) {
    const std::string name = run.server_threads > 0 ? std::to_string(run.server_threads) + " threads" : run.subject;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
    found->second.push_back(&run);
  }
  for (auto& [name, runs] : groups) {
    std::stable_sort(runs.begin(), runs.end(), [](const Figures* a, const Figures* b) { return a->level < b->level; });
  }
  return groups;
}

std::string named(const std::string& subject, const std::string& what) {
  return subject.empty() ? what : subject + " " + what;
}

std::string level_charts(const Report& report) {
  std::vector<Curve> throughput;
  std::vector<Curve> latency;
  bool open_loop = false;
  for (const auto& [name, runs] : by_subject(report)) {
    if (runs.size() < 2) continue;
    Curve answered{named(name, "requests/s"), {}};
    Curve median{named(name, "P50"), {}};
    Curve tail{named(name, "P99"), {}};
    for (const Figures* run : runs) {
      open_loop = open_loop || run->open_loop;
      answered.points.emplace_back(run->level, run->requests_per_second);
      median.points.emplace_back(run->level, run->p50_ms);
      tail.points.emplace_back(run->level, run->p99_ms);
    }
    throughput.push_back(answered);
    latency.push_back(median);
    latency.push_back(tail);
  }
  if (throughput.empty()) return "";
  const Axis x{open_loop ? "requests due per second" : "clients", !open_loop, 0, 1};
  return chart("Throughput", throughput, x, {"requests/s", false, 0, 1}) +
         chart("Latency", latency, x, {"milliseconds", true, 0, 1});
}

std::string series_charts(const Figures& run) {
  Curve answered{"requests/s", {}};
  Curve median{"P50", {}};
  Curve tail{"P99", {}};
  for (const SeriesPoint& point : run.series) {
    answered.points.emplace_back(point.at_s, point.requests_per_second);
    median.points.emplace_back(point.at_s, point.p50_ms);
    tail.points.emplace_back(point.at_s, point.p99_ms);
  }
  const Axis time{"seconds", false, 0, 1};
  std::string html = "<h3>" + escaped(named(run.subject, run.label)) + "</h3>";
  html += chart("Latency over time", {median, tail}, time, {"milliseconds", true, 0, 1});
  html += chart("Throughput over time", {answered}, time, {"requests/s", false, 0, 1});
  if (run.memory.size() < 2) return html;
  Curve memory{"resident memory", {}};
  for (const MemoryPoint& point : run.memory) memory.points.emplace_back(point.at_s, point.resident_bytes / (1 << 20));
  return html + chart("The server's memory", {memory}, time, {"MiB", false, 0, 1});
}

std::string table(const Report& report) {
  std::string html = "<table><tr><th>load</th>";
  for (const char* name : {"requests/s", "texts/s", "tokens/s", "P50 ms", "P90", "P95", "P99", "P99.9", "max",
                           "first ms", "failed %", "cores", "µs/token", "RSS MiB", "of peak %"}) {
    html += std::string("<th>") + name + "</th>";
  }
  html += "</tr>\n";
  const auto cell = [&](const std::optional<double>& number, double scale = 1) {
    html += "<td>" + (number ? short_number(*number * scale) : "–") + "</td>";
  };
  for (const Figures& run : report.runs) {
    std::string label = named(run.subject, run.label);
    if (run.server_threads > 0) label = std::to_string(run.server_threads) + " threads, " + label;
    html += "<tr><td>" + escaped(label) + "</td>";
    for (const double number : {run.requests_per_second, run.texts_per_second, run.tokens_per_second, run.p50_ms,
                                run.p90_ms, run.p95_ms, run.p99_ms, run.p999_ms, run.max_ms, run.first_ms}) {
      cell(number);
    }
    cell(run.failed_share, 100);
    cell(run.cpu_cores);
    cell(run.cpu_us_per_token);
    cell(run.resident_bytes, 1.0 / (1 << 20));
    cell(run.peak_share, 100);
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string list_of_failures(const Report& report) {
  std::string items;
  for (const Figures& run : report.runs) {
    for (const auto& [name, count] : run.failures) {
      items += "<li>" + escaped(named(run.subject, run.label)) + ": " + escaped(name) + " " + std::to_string(count) +
               "</li>";
    }
  }
  return items.empty() ? "" : "<h2>Failures</h2><ul>" + items + "</ul>\n";
}

}  // namespace

std::string report_html(const Report& report) {
  std::string html = "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>weir bench " +
                     escaped(report.mode) + "</title><style>" + kStyle + "</style></head><body>\n<h1>weir bench " +
                     escaped(report.mode) + "</h1>\n<p>";
  for (const std::string& subject : report.subjects) html += escaped(subject) + "<br>";
  html += escaped(report.workload) + "<br>" + escaped(report.machine) + "<br>" + escaped(report.started) + ", weir " +
          escaped(report.weir_version) + "</p>\n";
  if (!report.findings.empty() || !report.warnings.empty()) {
    html += "<h2>Findings</h2><ul>";
    for (const Finding& finding : report.findings) {
      html += std::string("<li") + (finding.problem ? " class='problem'>" : ">") + escaped(finding.text) + "</li>";
    }
    for (const std::string& warning : report.warnings) {
      html += "<li class='warning'>warning: " + escaped(warning) + "</li>";
    }
    html += "</ul>\n";
  }
  html += "<h2>Figures</h2>\n" + table(report) + list_of_failures(report);
  const std::string levels = level_charts(report);
  if (!levels.empty()) html += "<h2>Over the load</h2>\n" + levels;
  // The last run is the longest of a soak; the series of many short runs would be a wall of charts.
  if (!report.runs.empty()) html += "<h2>Over time</h2>\n" + series_charts(report.runs.back());
  return html + "</body></html>\n";
}

}  // namespace weir::loadgen
