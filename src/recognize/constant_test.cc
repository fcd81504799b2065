#include "recognize/constant.h"

#include <gtest/gtest.h>

namespace weir::recognize {
namespace {

using Numbers = Constant::Numbers;

Constant counting(Dims dims, DataType type = DataType::kFloat) {
  Numbers numbers(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  return {type, std::move(dims), std::move(numbers)};
}

TEST(Dims, CountsAreBounded) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 0, 3}), 0);
  EXPECT_EQ(element_count({2, -1}), -1);
  EXPECT_EQ(element_count({std::int64_t{1} << 32, std::int64_t{1} << 32}), -1);
}

TEST(Dims, Selections) {
  const Constant matrix = counting({2, 3});
  EXPECT_EQ(matrix.selected(*transposed({2, 3}, {1, 0})).numbers(), (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(matrix.selected(*broadcast({2, 3}, {2, 2, 3})).numbers(), (Numbers{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(matrix.selected(*taken({2, 3}, 1, {-1, 0}, {2})).numbers(), (Numbers{2, 0, 5, 3}));
  EXPECT_FALSE(transposed({2, 3}, {0, 0}));
  EXPECT_FALSE(transposed({2, 3}, {0}));
  EXPECT_FALSE(broadcast({2, 3}, {2, 2}));
  EXPECT_FALSE(broadcast({1}, {std::int64_t{1} << 30}));
  EXPECT_FALSE(taken({2, 3}, 0, {2}, {1}));
  EXPECT_FALSE(taken({2, 3}, 0, {-3}, {1}));
}

TEST(Constant, DequantizesPerTensorAndPerAxis) {
  const Constant quantized(DataType::kInt8, {2, 3}, Numbers{-128, 0, 127, 1, 2, 3});
  const Constant one_scale = Constant::scalar(DataType::kFloat, 0.5);
  const Constant zero = Constant::scalar(DataType::kInt8, 1);
  EXPECT_EQ(dequantized(quantized, one_scale, &zero, 1)->numbers(), (Numbers{-64.5, -0.5, 63, 0, 0.5, 1}));
  const Constant columns(DataType::kFloat, {3}, Numbers{1, 2, 4});
  EXPECT_EQ(dequantized(quantized, columns, nullptr, 1)->numbers(), (Numbers{-128, 0, 508, 1, 4, 12}));
  const Constant rows(DataType::kFloat, {2}, Numbers{1, 10});
  EXPECT_EQ(dequantized(quantized, rows, nullptr, 0)->numbers(), (Numbers{-128, 0, 127, 10, 20, 30}));
  EXPECT_FALSE(dequantized(quantized, rows, nullptr, 1).ok());
  EXPECT_FALSE(dequantized(quantized, rows, nullptr, 5).ok());
}

TEST(Constant, CombinesWithBroadcast) {
  const auto sum = [](double x, double y) { return x + y; };
  const Constant row(DataType::kFloat, {3}, Numbers{10, 20, 30});
  EXPECT_EQ(combined(counting({2, 3}), row, DataType::kFloat, sum)->numbers(), (Numbers{10, 21, 32, 13, 24, 35}));
  EXPECT_FALSE(combined(counting({2, 3}), counting({2}), DataType::kFloat, sum).ok());
}

TEST(Constant, LargeOnesAreReadWhenAskedFor) {
  int reads = 0;
  Constant large(DataType::kFloat, {2, 3}, Constant::Recipe([&reads] {
                   ++reads;
                   return std::vector<float>{0, 1, 2, 3, 4, 5};
                 }));
  const Constant turned =
      large.selected(*transposed({2, 3}, {1, 0})).mapped(DataType::kFloat, [](double x) { return -x; });
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(turned.floats(), (std::vector<float>{0, -3, -1, -4, -2, -5}));
  EXPECT_EQ(reads, 1);
}

TEST(Constant, ChainsOfRecipesAreCut) {
  Constant value(DataType::kFloat, {1}, Constant::Recipe([] { return std::vector<float>{0}; }));
  for (int i = 0; i < 100'000; ++i) value = value.mapped(DataType::kFloat, [](double x) { return x + 1; });
  EXPECT_EQ(value.floats(), std::vector<float>{100'000});
  EXPECT_LE(value.depth(), 32);
}

}  // namespace
}  // namespace weir::recognize
