#include "loadgen/http/url.h"

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

TEST(Url, PartsAreRead) {
  const auto url = parse_url("http://server-1.example:8080/v1/x?y=1", "--url");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "server-1.example");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->path, "/v1/x?y=1");
  EXPECT_EQ(url->authority(), "server-1.example:8080");
}

TEST(Url, DefaultsAndAddresses) {
  EXPECT_EQ(parse_url("http://a.b", "")->port, 80);
  EXPECT_EQ(parse_url("http://a.b/", "")->path, "");
  EXPECT_EQ(parse_url("http://a.b?c", "")->path, "/?c");
  const auto v6 = parse_url("grpc://[::1]:9", "");
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->authority(), "[::1]:9");
}

TEST(Url, WhatIsNoneIsRefusedWithTheFlag) {
  for (const char* text : {"", "localhost:80", "https://a:1", "ftp://a:1", "http://", "http://:80", "http://a:0",
                           "http://a:70000", "http://a:8x", "http://[::1", "http://[::1]9", "http://a b:1", "grpc://a",
                           "http://user@a:1", "http://a:1/x\r\nEvil: y"}) {
    const auto url = parse_url(text, "--url");
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_EQ(url.error().where, "--url");
  }
}

TEST(Url, Resolves) {
  EXPECT_TRUE(resolve(*parse_url("http://127.0.0.1:1", "")).ok());
  EXPECT_TRUE(resolve(*parse_url("http://[::1]:1", "")).ok());
  const auto none = resolve(*parse_url("http://no-such-host-anywhere:1", ""));
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("no-such-host-anywhere"), std::string::npos);
}

}  // namespace
}  // namespace weir::loadgen
