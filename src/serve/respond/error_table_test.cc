#include "serve/respond/error_table.h"

#include <gtest/gtest.h>

namespace weir::serve::respond {
namespace {

constexpr auto kLastKind = static_cast<int>(ErrorKind::kInternal);

TEST(ErrorTable, HasARowOfItsOwnForEveryKind) {
  for (int kind = 0; kind <= kLastKind; ++kind) {
    const ErrorRow& row = error_row(static_cast<ErrorKind>(kind));
    EXPECT_EQ(row.kind, static_cast<ErrorKind>(kind)) << error_kind_name(static_cast<ErrorKind>(kind));
    EXPECT_GE(row.openai_status, 400);
    EXPECT_GE(row.tei_status, 400);
    EXPECT_FALSE(row.openai_type.empty());
    EXPECT_FALSE(row.tei_type.empty());
  }
}

TEST(ErrorTable, SaysWhatPasses) {
  for (const ErrorKind kind : {ErrorKind::kOverloaded, ErrorKind::kTimeout, ErrorKind::kUnavailable}) {
    EXPECT_TRUE(passes(http_status(kind, Dialect::kOpenAi, {}))) << error_kind_name(kind);
  }
  for (const int status : {200, 400, 404, 424, 500}) EXPECT_FALSE(passes(status));
}

TEST(ErrorTable, GivesEachDialectItsStatus) {
  const ErrorOptions options;
  EXPECT_EQ(http_status(ErrorKind::kInvalidArgument, Dialect::kOpenAi, options), 400);
  EXPECT_EQ(http_status(ErrorKind::kInvalidArgument, Dialect::kTei, options), 422);
  EXPECT_EQ(http_status(ErrorKind::kBackend, Dialect::kOpenAi, options), 500);
  EXPECT_EQ(http_status(ErrorKind::kBackend, Dialect::kTei, options), 424);
  EXPECT_EQ(http_status(ErrorKind::kTimeout, Dialect::kTei, options), 504);
}

TEST(ErrorTable, LetsConfigurationChooseTwoStatuses) {
  EXPECT_EQ(http_status(ErrorKind::kOverloaded, Dialect::kOpenAi, {}), 429);
  EXPECT_EQ(http_status(ErrorKind::kOverloaded, Dialect::kTei, {.overloaded_status = 503}), 503);
  EXPECT_EQ(http_status(ErrorKind::kTextTooLong, Dialect::kOpenAi, {}), 422);
  EXPECT_EQ(http_status(ErrorKind::kTextTooLong, Dialect::kOpenAi, {.text_too_long_status = 413}), 413);
  EXPECT_TRUE(check(ErrorOptions{.overloaded_status = 503, .text_too_long_status = 400}).ok());
  EXPECT_EQ(check(ErrorOptions{.overloaded_status = 500}).error().where, "overloaded_status");
  EXPECT_EQ(check(ErrorOptions{.text_too_long_status = 200}).error().where, "text_too_long_status");
}

TEST(ErrorBody, NestsAsOpenAiDoes) {
  EXPECT_EQ(error_body(Error(ErrorKind::kInvalidArgument, "a \"bad\"\nfield", "input[3]"), Dialect::kOpenAi),
            R"({"error":{"message":"a \"bad\"\nfield","type":"invalid_request_error","param":"input[3]",)"
            R"("code":"invalid_value"}})");
  EXPECT_EQ(error_body(Error(ErrorKind::kOverloaded, "full"), Dialect::kOpenAi),
            R"({"error":{"message":"full","type":"rate_limit_error","param":null,"code":"overloaded"}})");
}

TEST(ErrorBody, TellsAnUnknownModelFromAnUnknownRoute) {
  EXPECT_NE(error_body(Error(ErrorKind::kNotFound, "m", "model"), Dialect::kOpenAi).find(R"("code":"model_not_found")"),
            std::string::npos);
  EXPECT_NE(error_body(Error(ErrorKind::kNotFound, "m"), Dialect::kOpenAi).find(R"("code":"not_found")"),
            std::string::npos);
}

TEST(ErrorBody, IsFlatInTei) {
  EXPECT_EQ(error_body(Error(ErrorKind::kEmptyInput, "empty", "inputs"), Dialect::kTei),
            R"({"error":"empty","error_type":"Empty"})");
}

}  // namespace
}  // namespace weir::serve::respond
