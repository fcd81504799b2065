#include "families/weights.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "safetensors/testing.h"

namespace weir::families {
namespace {

using safetensors::testing::bytes_of;
using safetensors::testing::file_of;

class WeightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/weir_weights_" + info->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  safetensors::Checkpoint checkpoint(const std::vector<safetensors::testing::TestTensor>& tensors) {
    EXPECT_TRUE(write_file(folder_ + "/model.safetensors", file_of(tensors)).ok());
    return std::move(safetensors::Checkpoint::open(folder_)).value();
  }

  std::string folder_;
};

TEST_F(WeightsTest, TakesTransposesAndRemembers) {
  const auto file = checkpoint({{"a", "F32", {2, 3}, bytes_of<float>({1, 2, 3, 4, 5, 6})},
                                {"old", "F32", {1}, bytes_of<float>({7})},
                                {"rest", "F32", {1}, bytes_of<float>({8})}});
  Weights weights(file);
  EXPECT_EQ(transposed(weights.take({"a"}, {2, 3}).value(), 2, 3), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(weights.take({"new", "old"}, {1}).value(), std::vector<float>{7});
  EXPECT_EQ(weights.left_over(), std::vector<std::string>{"rest"});
}

TEST_F(WeightsTest, TransposesLargerThanABlock) {
  std::vector<float> values(70 * 45);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::vector<float> swapped = transposed(values, 70, 45);
  for (std::size_t row = 0; row < 70; ++row) {
    for (std::size_t column = 0; column < 45; ++column) {
      ASSERT_EQ(swapped[column * 70 + row], values[row * 45 + column]);
    }
  }
}

TEST_F(WeightsTest, ShapesThatDisagreeNameBoth) {
  const auto file = checkpoint({{"a", "F32", {2, 3}, bytes_of<float>({1, 2, 3, 4, 5, 6})}});
  Weights weights(file);
  const auto values = weights.take({"a"}, {3, 2});
  ASSERT_FALSE(values.ok());
  EXPECT_EQ(values.error().kind, ErrorKind::kCorrupt);
  EXPECT_NE(values.error().message.find("tensor 'a': config.json asks for shape [3, 2], found [2, 3]"),
            std::string::npos);
  EXPECT_NE(weights.take({"b"}, {1}).error().message.find("tensor 'b' is missing"), std::string::npos);
}

TEST_F(WeightsTest, NotFiniteOrNotFloat) {
  const auto file = checkpoint({{"inf", "F32", {2}, bytes_of<float>({1, -std::numeric_limits<float>::infinity()})},
                                {"nan", "F32", {1}, bytes_of<float>({NAN})},
                                {"half", "F16", {1}, bytes_of<std::uint16_t>({0x7C00})},
                                {"int", "I32", {1}, bytes_of<std::int32_t>({1})}});
  Weights weights(file);
  EXPECT_NE(weights.take({"inf"}, {2}).error().message.find("holds Inf at element 1"), std::string::npos);
  EXPECT_NE(weights.take({"nan"}, {1}).error().message.find("holds NaN at element 0"), std::string::npos);
  EXPECT_NE(weights.take({"half"}, {1}).error().message.find("holds Inf"), std::string::npos);
  EXPECT_EQ(weights.take({"int"}, {1}).error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace weir::families
