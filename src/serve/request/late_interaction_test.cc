#include "serve/request/late_interaction.h"

#include <gtest/gtest.h>

namespace weir::serve {
namespace {

bundle::LateInteraction colbert() {
  bundle::LateInteraction late;
  late.query_tokens = 6;
  late.document_tokens = 9;
  late.query_marker = 1;
  late.document_marker = 2;
  late.expansion_token = 99;
  return late;
}

tokenizers::Encoding encoded() {
  tokenizers::Encoding encoding;
  encoding.ids = {101, 7, 102};
  encoding.type_ids = {0, 1, 1};
  encoding.untruncated_tokens = 3;
  return encoding;
}

TEST(LateInteraction, LengthsOfRoles) {
  EXPECT_EQ(role_tokens(colbert(), true, 512), 6U);
  EXPECT_EQ(role_tokens(colbert(), false, 512), 9U);
  EXPECT_EQ(role_tokens(colbert(), false, 8), 8U);
  EXPECT_EQ(encoded_tokens(colbert(), false, 512), 8U);
  bundle::LateInteraction without = colbert();
  without.document_marker.reset();
  EXPECT_EQ(encoded_tokens(without, false, 512), 9U);
}

TEST(LateInteraction, DocumentsGetAMarker) {
  tokenizers::Encoding encoding = encoded();
  add_role(colbert(), false, 512, encoding);
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{101, 2, 7, 102}));
  EXPECT_EQ(encoding.type_ids, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_TRUE(encoding.offsets.empty());
  EXPECT_EQ(encoding.untruncated_tokens, 4U);
  EXPECT_EQ(encoding.unattended_tokens, 0U);
}

TEST(LateInteraction, QueriesAreFilledUp) {
  tokenizers::Encoding encoding = encoded();
  encoding.offsets = {{0, 0}, {0, 5}, {0, 0}};
  encoding.special = {1, 0, 1};
  add_role(colbert(), true, 512, encoding);
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{101, 1, 7, 102, 99, 99}));
  EXPECT_EQ(encoding.type_ids, (std::vector<std::int32_t>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(encoding.offsets.size(), 6U);
  EXPECT_EQ(encoding.special, (std::vector<std::uint8_t>{1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(encoding.untruncated_tokens, 4U);
  EXPECT_EQ(encoding.unattended_tokens, 2U);
}

TEST(LateInteraction, QueriesWithoutFilling) {
  bundle::LateInteraction late = colbert();
  late.attend_to_expansion = true;
  tokenizers::Encoding encoding = encoded();
  add_role(late, true, 512, encoding);
  EXPECT_EQ(encoding.ids.size(), 6U);
  EXPECT_EQ(encoding.unattended_tokens, 0U);
  late.expansion_token.reset();
  encoding = encoded();
  add_role(late, true, 512, encoding);
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{101, 1, 7, 102}));
  late.query_marker.reset();
  encoding = encoded();
  add_role(late, true, 512, encoding);
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{101, 7, 102}));
  EXPECT_EQ(encoding.untruncated_tokens, 3U);
}

TEST(LateInteraction, TextsAndThenTheQuery) {
  std::vector<Input> inputs(2);
  inputs[0].text = inputs[1].text = "ask";
  inputs[0].pair = "first";
  inputs[1].pair = "second";
  part_from_query(inputs);
  ASSERT_EQ(inputs.size(), 3U);
  EXPECT_EQ(inputs[0].text, "first");
  EXPECT_EQ(inputs[1].text, "second");
  EXPECT_FALSE(inputs[1].pair.has_value());
  EXPECT_EQ(inputs[2].text, "ask");
  EXPECT_TRUE(inputs[2].is_query);
  inputs.clear();
  part_from_query(inputs);
  EXPECT_TRUE(inputs.empty());
}

}  // namespace
}  // namespace weir::serve
