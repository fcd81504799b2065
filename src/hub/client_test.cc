#include "hub/client.h"

#include <gtest/gtest.h>

namespace weir::hub {
namespace {

TEST(HubClientTest, ReadsRevisions) {
  const auto revision = parse_revision(
      R"({"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": [{"rfilename": "config.json", "size": 3},
          {"rfilename": "../x"}]})");
  ASSERT_TRUE(revision.ok());
  EXPECT_EQ(revision->files, std::vector<std::string>{"config.json"});
}

TEST(HubClientTest, RefusesAnswersThatAreNone) {
  for (const char* json :
       {"", "[]", "{}", R"({"sha": "main", "siblings": []})", R"({"sha": "0123456789abcdef0123456789abcdef01234567"})",
        R"({"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": [{}]})"}) {
    EXPECT_FALSE(parse_revision(json).ok()) << json;
  }
}

TEST(HubClientTest, TakesETagsThatCanNameAFile) {
  EXPECT_EQ(*parse_etag("\"abc-1.2_X\""), "abc-1.2_X");
  EXPECT_EQ(*parse_etag("W/\"abc\""), "abc");
  for (const char* etag : {"", "\"\"", "\"../x\"", "..", "a/b", "a b"}) EXPECT_FALSE(parse_etag(etag).ok()) << etag;
  EXPECT_FALSE(parse_etag(std::string(201, 'a')).ok());
}

}  // namespace
}  // namespace weir::hub
