#include "base/cosine.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace weir {
namespace {

using Pair = std::array<float, 2>;

TEST(Cosine, TellsTheAngleWhateverTheLengths) {
  EXPECT_DOUBLE_EQ(cosine(Pair{3, 4}, Pair{6, 8}), 1);
  EXPECT_DOUBLE_EQ(cosine(Pair{3, 4}, Pair{-3, -4}), -1);
  EXPECT_DOUBLE_EQ(cosine(Pair{1, 0}, Pair{0, 2}), 0);
  EXPECT_DOUBLE_EQ(cosine(Pair{1, 0}, Pair{1, 1}), std::sqrt(0.5));
}

TEST(Cosine, OfZerosIsOneOnlyWithZeros) {
  EXPECT_EQ(cosine(Pair{0, 0}, Pair{0, 0}), 1);
  EXPECT_EQ(cosine(Pair{0, 0}, Pair{1, 0}), 0);
  EXPECT_EQ(cosine(Pair{1, 0}, Pair{0, 0}), 0);
}

TEST(Cosine, DoesNotHideNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(cosine(Pair{nan, 0}, Pair{1, 0})));
  EXPECT_TRUE(std::isnan(cosine(Pair{nan, 0}, Pair{0, 0})));
}

}  // namespace
}  // namespace weir
