#include "loadgen/report/report.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace weir::loadgen {
namespace {

Report sample() {
  Report report;
  report.mode = "ladder";
  report.subjects = {"openai http://127.0.0.1:1/v1/embeddings"};
  report.workload = "3 texts of <a&b>.jsonl";
  for (const double clients : {1.0, 10.0}) {
    Figures run;
    run.label = short_number(clients) + " clients";
    run.level = clients;
    run.requests_per_second = 1234.5 * clients;
    run.p50_ms = 1.5;
    run.p99_ms = 20;
    run.answered = 90;
    run.failures = {{"status_429", 10}};
    run.failed_share = 0.1;
    run.resident_bytes = 1 << 20;
    run.series = {{0, 10, 1, 2, 3, 0}, {1, 20, 1, 0, 3, 1}};
    run.memory = {{0, 1e6}, {1, 2e6}};
    report.runs.push_back(run);
  }
  report.findings = {{"knee", "the knee <is> here", 42, "requests/s", 40.0, 44.0, true}};
  report.warnings = {"mind \"this\""};
  return report;
}

TEST(Report, JsonIsJsonAndHoldsTheFigures) {
  simdjson::dom::parser parser;
  const std::string text = report_json(sample());
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text;
  const auto run = root["runs"].at(1);
  EXPECT_EQ(double(run["requests_per_second"]), 12345);
  EXPECT_EQ(double(run["latency_ms"]["p99"]), 20);
  EXPECT_EQ(std::uint64_t(run["failures"]["status_429"]), 10u);
  EXPECT_TRUE(run["server"]["cpu_cores"].is_null());
  EXPECT_EQ(run["series"]["p50_ms"].get_array().size(), 2u);
  EXPECT_EQ(double(root["findings"].at(0)["high"]), 44);
  EXPECT_TRUE(bool(root["findings"].at(0)["problem"]));
}

TEST(Report, HtmlNeedsNothingFromOutsideAndEscapes) {
  const std::string html = report_html(sample());
  for (const char* outside : {"http-equiv", "src=", "href=", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(html.find("3 texts of &lt;a&amp;b&gt;.jsonl"), std::string::npos);
  EXPECT_NE(html.find("the knee &lt;is&gt; here"), std::string::npos);
  EXPECT_NE(html.find("<path d='M"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("inf'"), std::string::npos);
}

TEST(Report, EmptyAndConstantRunsDrawAsWell) {
  Report report;
  EXPECT_NE(report_html(report).find("</html>"), std::string::npos);
  report.runs.resize(2);
  const std::string html = report_html(report);
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

TEST(Report, RowsTellFailuresByKind) {
  const std::string row = table_row(sample().runs[0]);
  EXPECT_NE(row.find("10.0 %"), std::string::npos);
  EXPECT_NE(row.find("failed: status_429 10"), std::string::npos);
  EXPECT_NE(closing_text(sample()).find("! the knee"), std::string::npos);
  EXPECT_TRUE(sample().any_problem());
  EXPECT_NEAR(sample().failed_share(), 0.1, 1e-9);
}

TEST(ShortNumber, HasThreeDigits) {
  EXPECT_EQ(short_number(0), "0.00");
  EXPECT_EQ(short_number(1.234), "1.23");
  EXPECT_EQ(short_number(9.999), "10.0");
  EXPECT_EQ(short_number(45.67), "45.7");
  EXPECT_EQ(short_number(99.97), "100");
  EXPECT_EQ(short_number(1234567), "1,234,567");
  EXPECT_EQ(short_number(-1234), "-1,234");
}

}  // namespace
}  // namespace weir::loadgen
