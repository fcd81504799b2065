#include "tokenizers/truncation.h"

#include <gtest/gtest.h>

namespace weir::tokenizers {
namespace {

constexpr auto kLongest = PairTruncation::kLongestFirst;

TEST(Truncation, LeavesWhatFits) {
  EXPECT_EQ(*truncate({3, 0}, false, 3, kLongest), (Lengths{3, 0}));
  EXPECT_EQ(*truncate({3, 4}, true, 7, kLongest), (Lengths{3, 4}));
}

TEST(Truncation, ShortensOneText) {
  EXPECT_EQ(*truncate({9, 0}, false, 3, kLongest), (Lengths{3, 0}));
  EXPECT_EQ(*truncate({9, 0}, false, 0, kLongest), (Lengths{0, 0}));
  EXPECT_EQ(*truncate({9, 0}, false, 3, PairTruncation::kOnlySecond), (Lengths{3, 0}));
}

TEST(Truncation, LongestFirstKeepsTheShorterTextIfItCan) {
  EXPECT_EQ(*truncate({2, 100}, true, 9, kLongest), (Lengths{2, 7}));
  EXPECT_EQ(*truncate({100, 2}, true, 9, kLongest), (Lengths{7, 2}));
  EXPECT_EQ(*truncate({100, 50}, true, 9, kLongest), (Lengths{5, 4}));
  EXPECT_EQ(*truncate({50, 100}, true, 9, kLongest), (Lengths{4, 5}));
  EXPECT_EQ(*truncate({6, 6}, true, 9, kLongest), (Lengths{4, 5}));
  EXPECT_EQ(*truncate({6, 6}, true, 1, kLongest), (Lengths{0, 1}));
  EXPECT_EQ(*truncate({6, 6}, true, 0, kLongest), (Lengths{0, 0}));
}

TEST(Truncation, OnlyOneTextMustBeLongEnough) {
  EXPECT_EQ(*truncate({6, 4}, true, 7, PairTruncation::kOnlyFirst), (Lengths{3, 4}));
  EXPECT_EQ(*truncate({6, 4}, true, 7, PairTruncation::kOnlySecond), (Lengths{6, 1}));
  const auto error = truncate({6, 4}, true, 6, PairTruncation::kOnlySecond);
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(error.error().where, "max_tokens");
}

}  // namespace
}  // namespace weir::tokenizers
