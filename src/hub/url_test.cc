#include "hub/url.h"

#include <gtest/gtest.h>

namespace weir::hub {
namespace {

std::string resolved(const char* base, const char* location) {
  const auto url = Url::parse(base)->resolve(location);
  return url.ok() ? url->text() : "error";
}

TEST(UrlTest, ReadsItsParts) {
  const auto url = Url::parse("HTTPS://user:pw@Example.COM:8443/a/b?c=d#e");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->secure);
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->target, "/a/b?c=d");
  EXPECT_EQ(url->authority(), "example.com:8443");
  EXPECT_EQ(Url::parse("http://h?q=1")->text(), "http://h/?q=1");
  EXPECT_EQ(Url::parse("http://[::1]:80/x")->authority(), "[::1]");
  EXPECT_EQ(Url::parse("https://h")->port, 443);
}

TEST(UrlTest, RefusesWhatIsNone) {
  for (const char* text :
       {"", "h/x", "ftp://h", "http://", "http://h:0", "http://h:65536", "http://h:x", "http://[::1", "http://[[]",
        "http://[h]", "http://a]b", "http://a\\b", "http://h/a b", "http://h/\n", "http://h/\xC3\xA9", "://h"}) {
    EXPECT_FALSE(Url::parse(text).ok()) << text;
  }
  EXPECT_FALSE(Url::parse("http://h/" + std::string(20000, 'a')).ok());
}

TEST(UrlTest, FollowsLocations) {
  EXPECT_EQ(resolved("http://h/a/b?c", "/x"), "http://h/x");
  EXPECT_EQ(resolved("http://h/a/b?c", "x?y"), "http://h/a/x?y");
  EXPECT_EQ(resolved("http://h/a/b?c", "?d"), "http://h/a/b?d");
  EXPECT_EQ(resolved("https://h/a", "//cdn/x"), "https://cdn/x");
  EXPECT_EQ(resolved("https://h/a", "http://cdn:81/x"), "http://cdn:81/x");
  EXPECT_EQ(resolved("https://h/a", "/x?to=http://elsewhere/"), "https://h/x?to=http://elsewhere/");
  EXPECT_EQ(resolved("https://h/a", "gopher://x"), "error");
}

TEST(UrlTest, KnowsOrigins) {
  const Url url = *Url::parse("https://h/a");
  EXPECT_TRUE(url.same_origin(*Url::parse("https://H:443/b")));
  EXPECT_FALSE(url.same_origin(*Url::parse("http://h/a")));
  EXPECT_FALSE(url.same_origin(*Url::parse("https://h:444/a")));
}

TEST(UrlTest, EncodesPaths) {
  EXPECT_EQ(encode_path("1_Pooling/a b\xC3\xA9#?.json"), "1_Pooling/a%20b%C3%A9%23%3F.json");
  EXPECT_EQ(encode_component("refs/pr/1"), "refs%2Fpr%2F1");
}

}  // namespace
}  // namespace weir::hub
