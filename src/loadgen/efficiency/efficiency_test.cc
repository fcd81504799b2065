#include "loadgen/efficiency/efficiency.h"

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

TEST(ModelShape, OperationsOfASmallEncoder) {
  const ModelShape shape{384, 6, 1536};
  // A token costs 6 layers × 2 × 12 × 384² without attention: 21.2 million.
  EXPECT_DOUBLE_EQ(shape.operations(1, 0), 6.0 * 2 * 12 * 384 * 384);
  EXPECT_DOUBLE_EQ(shape.operations(10, 100), 10 * shape.operations(1, 0) + 6.0 * 4 * 384 * 100);
}

TEST(ModelShape, IsReadFromTheConfiguration) {
  const auto shape = read_model_shape(std::string(WEIR_TEST_DATA) + "/tiny-bert");
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  EXPECT_GT(shape->hidden, 0u);
  EXPECT_GT(shape->layers, 0u);
  EXPECT_EQ(read_model_shape("/nowhere").error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(read_model_shape(std::string(WEIR_TEST_DATA) + "/tiny-bert/tokenizer_config.json").ok());
}

}  // namespace
}  // namespace weir::loadgen
