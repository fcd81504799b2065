#include "serve/front/http/request_target.h"

#include <gtest/gtest.h>

namespace weir::serve::front::http {
namespace {

TEST(PathOfTarget, LeavesOutQueryAndAuthority) {
  EXPECT_EQ(path_of_target("/a/b?c=d/e"), "/a/b");
  EXPECT_EQ(path_of_target("/a#b"), "/a");
  EXPECT_EQ(path_of_target("/"), "/");
  EXPECT_EQ(path_of_target("http://host:80/a?b"), "/a");
  EXPECT_EQ(path_of_target("https://host/a/b"), "/a/b");
  EXPECT_EQ(path_of_target("http://host"), "/");
  EXPECT_EQ(path_of_target("http://host?x=/y"), "/");
  EXPECT_EQ(path_of_target("*"), "*");
  EXPECT_EQ(path_of_target(""), "");
}

TEST(PercentDecode, RefusesWhatIsNoEscape) {
  EXPECT_EQ(percent_decode("org%2Fname%20x"), "org/name x");
  EXPECT_EQ(percent_decode("a/b+c"), "a/b+c");
  EXPECT_EQ(percent_decode(""), "");
  EXPECT_EQ(percent_decode("%41"), "A");
  for (const char* const bad : {"%", "%4", "a%4", "%zz", "%4g", "%-1", "%00", "%+1"}) {
    EXPECT_EQ(percent_decode(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace weir::serve::front::http
