#include "serve/front/http/response_head.h"

#include <gtest/gtest.h>

namespace weir::serve::front::http {
namespace {

TEST(HttpDate, IsInItsFixedForm) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(ResponseHead, HoldsWhatTheResponseSays) {
  Response response;
  response.status = 404;
  response.content_type = "application/json";
  response.fields.emplace_back("X-A", "1");
  response.body = "{}";
  EXPECT_EQ(response_head(response, AfterResponse::kClose, "D"),
            "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            "Connection: close\r\nX-A: 1\r\n\r\n");
  response = {};
  response.status = 204;
  EXPECT_EQ(response_head(response, AfterResponse::kKeepAlive, "D"), "HTTP/1.1 204 No Content\r\nDate: D\r\n\r\n");
}

TEST(ResponseHead, LeavesOutFieldsThatWouldBreakIt) {
  Response response;
  response.fields.emplace_back("X-A", "1\r\nSet-Cookie: x");
  response.fields.emplace_back("X-B", std::string("a\0b", 3));
  const std::string head = response_head(response, AfterResponse::kKeepAlive, "D");
  EXPECT_EQ(head, "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace
}  // namespace weir::serve::front::http
