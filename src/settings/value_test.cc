#include "settings/value.h"

#include <limits>

#include <gtest/gtest.h>

namespace weir::settings {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Domain domain_of(Kind kind) { return {kind, 0, kMax, {}}; }

TEST(SettingsValue, Integers) {
  const Domain port{Kind::kInteger, 0, 65535, {}};
  EXPECT_EQ(*parse_value(port, " 8080 "), Value(std::int64_t{8080}));
  for (const char* bad : {"", "65536", "-1", "80.5", "0x50", "abc", "99999999999999999999"}) {
    EXPECT_FALSE(parse_value(port, bad).ok()) << bad;
  }
  EXPECT_EQ(parse_value(port, "x").error().message, "'x' is not allowed; it takes an integer between 0 and 65535");
}

TEST(SettingsValue, Sizes) {
  const Domain size = domain_of(Kind::kSize);
  EXPECT_EQ(*parse_value(size, "8MiB"), Value(Size{8 << 20}));
  EXPECT_EQ(*parse_value(size, "8 MiB"), Value(Size{8 << 20}));
  EXPECT_EQ(*parse_value(size, "65536"), Value(Size{65536}));
  EXPECT_EQ(*parse_value(size, "1B"), Value(Size{1}));
  for (const char* bad : {"8MB", "MiB", "-1KiB", "1.5GiB", "8mib", "9999999999TiB", "8MiBx"}) {
    EXPECT_FALSE(parse_value(size, bad).ok()) << bad;
  }
}

TEST(SettingsValue, Durations) {
  const Domain duration = domain_of(Kind::kDuration);
  EXPECT_EQ(*parse_value(duration, "60s"), Value(Duration(60000)));
  EXPECT_EQ(*parse_value(duration, "500ms"), Value(Duration(500)));
  EXPECT_EQ(*parse_value(duration, "2m"), Value(Duration(120000)));
  EXPECT_EQ(*parse_value(duration, "1h"), Value(Duration(3600000)));
  EXPECT_EQ(*parse_value(duration, "0"), Value(Duration(0)));
  for (const char* bad : {"60", "s", "1.5s", "-1s", "60sec", "9223372036854775807h", ""}) {
    EXPECT_FALSE(parse_value(duration, bad).ok()) << bad;
  }
}

TEST(SettingsValue, RangesHoldForSizesAndDurations) {
  const Domain body{Kind::kSize, 1024, 1 << 30, {}};
  EXPECT_FALSE(parse_value(body, "1023").ok());
  EXPECT_TRUE(parse_value(body, "1KiB").ok());
  EXPECT_EQ(parse_value(body, "2GiB").error().message,
            "'2GiB' is not allowed; it takes a size in B, KiB, MiB, GiB or TiB between 1KiB and 1GiB");
  const Domain wait{Kind::kDuration, 1, 3'600'000, {}};
  EXPECT_FALSE(parse_value(wait, "0").ok());
  EXPECT_FALSE(parse_value(wait, "2h").ok());
}

TEST(SettingsValue, BooleansAndChoices) {
  for (const char* yes : {"true", "on", "yes", "1"}) EXPECT_EQ(*parse_value({Kind::kBool}, yes), Value(true));
  for (const char* no : {"false", "off", "no", "0"}) EXPECT_EQ(*parse_value({Kind::kBool}, no), Value(false));
  EXPECT_FALSE(parse_value({Kind::kBool}, "maybe").ok());
  const Domain status{Kind::kChoice, 0, 0, {"429", "503"}};
  EXPECT_EQ(*parse_value(status, "503"), Value(std::string("503")));
  EXPECT_EQ(parse_value(status, "500").error().message, "'500' is not allowed; it takes one of 429, 503");
}

TEST(SettingsValue, FormatIsTheInverseOfParse) {
  const std::pair<Kind, const char*> values[] = {
      {Kind::kInteger, "17"},      {Kind::kSize, "8MiB"},     {Kind::kSize, "1000B"}, {Kind::kSize, "0"},
      {Kind::kDuration, "1500ms"}, {Kind::kDuration, "1m"},   {Kind::kDuration, "0"}, {Kind::kBool, "true"},
      {Kind::kText, "a b"},        {Kind::kList, "name=/p q"}};
  for (const auto& [kind, text] : values) {
    const Result<Value> value = parse_value(domain_of(kind), text);
    ASSERT_TRUE(value.ok()) << text;
    EXPECT_EQ(format_value(*value), text);
  }
  EXPECT_EQ(format_value(*parse_value(domain_of(Kind::kDuration), "90s")), "90s");
}

TEST(SettingsValue, Lists) {
  EXPECT_EQ(split_list(" a, b,,c "), (List{"a", "b", "c"}));
  EXPECT_EQ(split_list(""), List());
  EXPECT_EQ(format_value(List{"a", "b"}), "a,b");
  EXPECT_FALSE(parse_value({Kind::kList}, " ").ok());
}

TEST(SettingsValue, LongBadValuesAreCutInMessages) {
  EXPECT_LT(parse_value({Kind::kBool}, std::string(10000, 'x')).error().message.size(), 200u);
}

}  // namespace
}  // namespace weir::settings
