#include "tokenizers/pattern/pattern.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir::tokenizers {
namespace {

using Matches = std::vector<Pattern::Match>;

class PatternTest : public testing::Test {
 protected:
  Result<Pattern> read(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "split");
    return Pattern::read(*config, "pattern");
  }
  Matches find(std::string_view json, std::string_view text) {
    const auto pattern = read(json);
    EXPECT_TRUE(pattern.ok()) << pattern.error().message;
    Matches matches;
    EXPECT_TRUE(pattern->find_all(text, matches));
    return matches;
  }
  simdjson::dom::parser parser_;
};

TEST_F(PatternTest, FindsLiterals) {
  EXPECT_EQ(find(R"({"pattern": {"String": "aa"}})", "aaaa.aa"), (Matches{{0, 2}, {2, 4}, {5, 7}}));
  EXPECT_EQ(find(R"({"pattern": {"String": "."}})", "a"), Matches{});
}

TEST_F(PatternTest, FindsExpressionsAndCountsInBytes) {
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\p{L}+"}})", "é1漢b"), (Matches{{0, 2}, {3, 7}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": " {2,}"}})", "a  b c   "), (Matches{{1, 3}, {6, 9}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "x*"}})", "axb"), (Matches{{0, 0}, {1, 2}, {3, 3}}));
}

TEST_F(PatternTest, ClassesHaveTheExtentOfOniguruma) {
  EXPECT_EQ(find(R"({"pattern": {"Regex": "[[:punct:]]+"}})", "a$+!b"), (Matches{{1, 4}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "[[:^punct:]]+"}})", "a$+!b"), (Matches{{0, 1}, {4, 5}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "[[:xdigit:]]+"}})", "ag\u0661"), (Matches{{0, 1}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\h+"}})", "xfx"), (Matches{{1, 2}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\w+"}})", "a\u00b2_\u200d9"), (Matches{{0, 4}, {7, 8}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "[\\w]+"}})", "a\u00b2"), (Matches{{0, 1}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\bb\\w"}})", "ab b\u00b2"), (Matches{{3, 6}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\p{^L}+"}})", "a12"), (Matches{{1, 3}}));
  EXPECT_EQ(find(R"~({"pattern": {"Regex": "(?m:a.b)"}})~", "a\nb"), (Matches{{0, 3}}));
}

TEST_F(PatternTest, ClassesKnowMoreThanAnOldIcu) {
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\p{P}"}})", "a\u1b7fb"), (Matches{{1, 4}}));  // Unicode 16
  EXPECT_EQ(find(R"({"pattern": {"Regex": "[^\\s\\p{L}\\p{N}]+"}})", "a\u2429b"), (Matches{{1, 4}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "[[:^alpha:]]"}})", "\u1c89-"), (Matches{{3, 4}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\P{^Garay}"}})", "a\U00010D4A"), (Matches{{1, 5}}));
}

TEST_F(PatternTest, LeavesOtherPropertiesToIcu) {
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\p{ID_Start}+"}})", "ab1"), (Matches{{0, 2}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\p{^ID_Start}"}})", "ab1"), (Matches{{2, 3}}));
  EXPECT_EQ(read(R"({"pattern": {"Regex": "\\p{Klingon}"}})").error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(read(R"({"pattern": {"Regex": "\\p{L"}})").error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(read(R"({"pattern": {"Regex": "\\p"}})").error().kind, ErrorKind::kUnsupported);
}

TEST_F(PatternTest, MayBeSearchedByManyThreadsAtOnce) {
  const auto pattern = read(R"({"pattern": {"Regex": "\\p{L}+"}})");
  ASSERT_TRUE(pattern.ok());
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) {
    threads.emplace_back([&pattern, i] {
      const std::string text(static_cast<std::size_t>(i), 'x');
      Matches matches;
      for (int n = 0; n < 200; ++n) {
        EXPECT_TRUE(pattern->find_all(text + " " + text, matches));
        EXPECT_EQ(matches, (Matches{{0, text.size()}, {text.size() + 1, 2 * text.size() + 1}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PatternTest, RefusesEscapesThatIcuTakesForSomethingElse) {
  const auto pattern = read(R"({"pattern": {"Regex": "a\\Kb"}})");
  ASSERT_FALSE(pattern.ok());
  EXPECT_NE(pattern.error().message.find("\\K"), std::string::npos) << pattern.error().message;
}

TEST_F(PatternTest, SpacesAreThoseOfUnicode) {
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\s"}})", "\v\u0085\u3000a").size(), 3u);
  EXPECT_EQ(find(R"({"pattern": {"Regex": "[^\\s]+"}})", "a\vb"), (Matches{{0, 1}, {2, 3}}));
  EXPECT_EQ(find(R"({"pattern": {"Regex": "\\\\s"}})", "\\s"), (Matches{{0, 2}}));
}

TEST_F(PatternTest, OnlyALineFeedEndsALine) {
  EXPECT_EQ(find(R"({"pattern": {"Regex": "."}})", "\r\n\v\u2028").size(), 3u);
  EXPECT_EQ(find(R"({"pattern": {"Regex": "^a$"}})", "a\nb\na"), (Matches{{0, 1}, {4, 5}}));
}

TEST_F(PatternTest, RefusesWhatItCannotRead) {
  EXPECT_EQ(read(R"({"pattern": {"Regex": "("}})").error().where, "split.pattern.Regex");
  EXPECT_EQ(read(R"({"pattern": {"Regex": "("}})").error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(read(R"({"pattern": {"String": ""}})").error().where, "split.pattern.String");
  EXPECT_EQ(read(R"({"pattern": {"Glob": "*"}})").error().where, "split.pattern.Glob");
  EXPECT_EQ(read(R"({"pattern": "x"})").error().where, "split.pattern");
  EXPECT_EQ(read(R"({})").error().where, "split.pattern");
}

TEST_F(PatternTest, TakesLongMatches) {
  EXPECT_EQ(find(R"({"pattern": {"Regex": " {2,}"}})", std::string(100'000, ' ')), (Matches{{0, 100'000}}));
  EXPECT_EQ(find(R"json({"pattern": {"Regex": "[^\\r\\n\\p{L}]?\\p{L}+|\\s+(?!\\S)"}})json", std::string(100'000, 'a')),
            (Matches{{0, 100'000}}));
}

TEST_F(PatternTest, GivesUpASearchThatTakesTooLong) {
  const auto pattern = read(R"({"pattern": {"Regex": "(a+)+$"}})");
  ASSERT_TRUE(pattern.ok());
  Matches matches;
  EXPECT_FALSE(pattern->find_all(std::string(40, 'a') + "b", matches));
}

}  // namespace
}  // namespace weir::tokenizers
