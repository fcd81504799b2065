#include "serve/front/http/request_headers.h"

#include <set>

#include <gtest/gtest.h>

namespace weir::serve::front::http {
namespace {

RequestHead head_with(std::string name, std::string value) {
  RequestHead head;
  head.fields.emplace_back(std::move(name), std::move(value));
  return head;
}

TEST(RequestId, KeepsTheClientsOwnIfItIsHarmless) {
  EXPECT_EQ(request_id(head_with("x-request-id", "a-1_{}\"~")), "a-1_{}\"~");
  EXPECT_EQ(request_id(head_with("X-Request-Id", std::string(128, 'x'))), std::string(128, 'x'));
}

TEST(RequestId, ReplacesWhatCouldForgeALogLine) {
  for (const std::string& given :
       {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a\nb"), std::string("a\r"),
        std::string("a\0b", 3), std::string("\x1b[31m"), std::string("\xC3\xA9"), std::string("\x7f")}) {
    const std::string id = request_id(head_with("X-Request-ID", given));
    EXPECT_NE(id, given);
    EXPECT_EQ(id.size(), 32u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

TEST(RequestId, IsNewEachTime) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(request_id({}));
  EXPECT_EQ(ids.size(), 1000u);
}

TEST(RequestTimeout, IsAPositiveWholeNumber) {
  EXPECT_FALSE(request_timeout({})->has_value());
  EXPECT_EQ(**request_timeout(head_with("x-request-timeout-ms", "1500")), std::chrono::milliseconds(1500));
  EXPECT_EQ(**request_timeout(head_with("X-Request-Timeout-Ms", "4294967295")), std::chrono::milliseconds(4294967295));
  for (const char* const bad :
       {"", "0", "-1", "+5", "1.5", "1e3", "5s", " 5", "0x10", "4294967296", "99999999999999999999"}) {
    const auto timeout = request_timeout(head_with("X-Request-Timeout-Ms", bad));
    ASSERT_FALSE(timeout.ok()) << bad;
    EXPECT_EQ(timeout.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_EQ(timeout.error().where, "X-Request-Timeout-Ms");
  }
}

TEST(Key, MustBeOneOfThem) {
  const std::vector<std::string> keys = {"first-key", "second"};
  EXPECT_TRUE(has_valid_key(head_with("authorization", "Bearer first-key"), keys));
  EXPECT_TRUE(has_valid_key(head_with("Authorization", "bearer   second "), keys));
  for (const char* const wrong :
       {"", "Bearer", "Bearer ", "Bearer first-ke", "Bearer first-keyfirst-key", "Bearer first-keyx", "Basic first-key",
        "first-key", "Bearer FIRST-KEY", "Bearer first-key second"}) {
    EXPECT_FALSE(has_valid_key(head_with("Authorization", wrong), keys)) << wrong;
  }
  EXPECT_FALSE(has_valid_key({}, keys));
  EXPECT_FALSE(has_valid_key(head_with("Authorization", "Bearer x"), {}));
}

TEST(MediaType, IsCheckedLeniently) {
  EXPECT_TRUE(check_json_media_type({}).ok());
  for (const char* const taken : {"application/json", "Application/JSON; charset=utf-8", "text/plain", "text/json", "",
                                  "application/x-www-form-urlencoded", "application/vnd.api+json"}) {
    EXPECT_TRUE(check_json_media_type(head_with("content-type", taken)).ok()) << taken;
  }
  for (const char* const wrong : {"application/xml", "multipart/form-data; boundary=x", "image/png", "json"}) {
    const Status status = check_json_media_type(head_with("Content-Type", wrong));
    ASSERT_FALSE(status.ok()) << wrong;
    EXPECT_EQ(status.error().kind, ErrorKind::kMediaType);
  }
  EXPECT_FALSE(check_json_media_type(head_with("Content-Encoding", "gzip")).ok());
  EXPECT_TRUE(check_json_media_type(head_with("Content-Encoding", "identity")).ok());
}

}  // namespace
}  // namespace weir::serve::front::http
