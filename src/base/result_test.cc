#include "base/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace weir {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error(ErrorKind::kInvalidArgument, "odd", "n");
  return n / 2;
}

Result<int> quarter(int n) {
  WEIR_ASSIGN_OR_RETURN(const int h, half(n));
  WEIR_ASSIGN_OR_RETURN(const int q, half(h));
  return q;
}

Status check(int n) {
  WEIR_RETURN_IF_ERROR(half(n));
  return {};
}

TEST(Result, CarriesValueOrError) {
  EXPECT_EQ(*quarter(8), 2);
  const Result<int> failed = quarter(6);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(failed.error().where, "n");
  EXPECT_TRUE(check(2).ok());
  EXPECT_FALSE(check(3).ok());
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace weir
