#include "base/log.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <regex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

namespace weir::log {
namespace {

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override { configure(Level::kInfo, Format::kText); }
};

/// What `write` puts on standard error, without the line end.
template <class Write>
std::string line_of(Write write) {
  ::testing::internal::CaptureStderr();
  write();
  std::string line = ::testing::internal::GetCapturedStderr();
  if (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

TEST_F(LogTest, TextLineHasTimeLevelMessageAndFields) {
  const std::string line =
      line_of([] { info("request", {{"request_id", "4f"}, {"status", 200}, {"duration_ms", 3.2}, {"ok", true}}); });
  EXPECT_TRUE(std::regex_match(
      line, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info request request_id=4f status=200 )"
                       R"(duration_ms=3\.2 ok=true)")))
      << line;
}

TEST_F(LogTest, TextQuotesWhatCouldBeMisread) {
  const std::string line = line_of([] { warn("x", {{"a", "b c"}, {"d", ""}, {"e", "f=g"}, {"h", "i\nj"}}); });
  EXPECT_NE(line.find(R"(warn x a="b c" d="" e="f=g" h="i\nj")"), std::string::npos) << line;
}

TEST_F(LogTest, AMessageCannotForgeALine) {
  const std::string line = line_of([] { error("one\n2026 info two\x1b[2J"); });
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find(R"(one\n2026 info two\u001b[2J)"), std::string::npos) << line;
}

TEST_F(LogTest, LevelsBelowTheConfiguredOneAreSilent) {
  configure(Level::kWarn, Format::kText);
  EXPECT_FALSE(enabled(Level::kInfo));
  EXPECT_TRUE(enabled(Level::kError));
  EXPECT_EQ(line_of([] { info("quiet"); }), "");
  EXPECT_NE(line_of([] { warn("loud"); }), "");
  configure(Level::kOff, Format::kText);
  EXPECT_FALSE(enabled(Level::kError));
  EXPECT_FALSE(enabled(Level::kOff));
  EXPECT_EQ(line_of([] { error("quiet"); }), "");
}

TEST_F(LogTest, JsonSurvivesEveryByte) {
  configure(Level::kDebug, Format::kJson);
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  all += "\xE2\x82\xAC\xF0\x9F\x98\x80";
  const std::string line = line_of([&all] { debug(all, {{all, all}}); });
  EXPECT_EQ(line.find('\n'), std::string::npos);

  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(line).get(document), simdjson::SUCCESS) << line;
  std::string_view message;
  ASSERT_EQ(document["message"].get(message), simdjson::SUCCESS);
  std::string expected;
  for (int byte = 0; byte < 128; ++byte) expected.push_back(static_cast<char>(byte));
  EXPECT_EQ(message.substr(0, 128), expected);
  EXPECT_EQ(message.substr(message.size() - 7), "\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_NE(message.find("\xEF\xBF\xBD"), std::string_view::npos);
}

TEST_F(LogTest, JsonKeepsTypes) {
  configure(Level::kInfo, Format::kJson);
  const std::string line = line_of([] {
    info("types", {{"int", -5},
                   {"big", std::numeric_limits<std::uint64_t>::max()},
                   {"half", 0.5},
                   {"bool", false},
                   {"nan", std::nan("")},
                   {"inf", -std::numeric_limits<double>::infinity()},
                   {"text", std::string("t")}});
  });
  EXPECT_NE(line.find(R"("level":"info","message":"types","int":-5,"big":18446744073709551615,"half":0.5,)"
                      R"("bool":false,"nan":"nan","inf":"-inf","text":"t"})"),
            std::string::npos)
      << line;
}

TEST_F(LogTest, LongValuesAreCut) {
  const std::string line = line_of([] { info("x", {{"long", std::string(1 << 20, 'a')}}); });
  EXPECT_LT(line.size(), 5000u);
  EXPECT_NE(line.find("a\xE2\x80\xA6\""), std::string::npos);
}

TEST_F(LogTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const std::string captured = line_of([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < kLines; ++i) info("line", {{"text", "0123456789 0123456789"}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  const std::regex whole(R"([0-9T:.Z-]+ info line text="0123456789 0123456789"\n)");
  const std::string text = captured + "\n";
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), whole), std::sregex_iterator()),
            kThreads * kLines);
}

}  // namespace
}  // namespace weir::log
