#include <gtest/gtest.h>

#include "tokenizers/post_processors/post_processor.h"

namespace weir::tokenizers {
namespace {

class PostProcessorsTest : public testing::Test {
 protected:
  Result<std::unique_ptr<PostProcessor>> make(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "post_processor");
    return make_post_processor(*config);
  }
  /// The plan in short: "A0" is the first text with type 0, "101:0" a special token.
  static std::string plan(const PostProcessor& processor, bool pair, bool special) {
    Plan parts = {{PlanStep{0, 0, 0, {}}}};
    if (pair) parts.push_back({PlanStep{1, 0, 1, {}}});
    EXPECT_TRUE(processor.apply(parts, special).ok());
    std::string result;
    for (const PlanPart& part : parts) {
      for (const PlanStep& step : part) {
        if (!result.empty()) result += ' ';
        const std::string type = std::to_string(step.type_id);
        result += step.sequence == PlanStep::kSpecial ? std::to_string(step.id) + ":" + type
                                                      : (step.sequence == 0 ? "A" : "B") + type;
      }
    }
    return result;
  }
  simdjson::dom::parser parser_;
};

constexpr std::string_view kBert = R"({"type": "BertProcessing", "cls": ["[CLS]", 101], "sep": ["[SEP]", 102]})";
constexpr std::string_view kTemplate = R"({"type": "TemplateProcessing",
  "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
  "pair": [{"Sequence": {"id": "B", "type_id": 3}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
           {"Sequence": {"id": "A", "type_id": 2}}],
  "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [5], "tokens": ["[CLS]"]},
                     "[SEP]": {"id": "[SEP]", "ids": [6, 7], "tokens": ["x", "y"]}}})";

TEST_F(PostProcessorsTest, BertSurroundsTexts) {
  const auto bert = make(kBert);
  ASSERT_TRUE(bert.ok());
  EXPECT_EQ(plan(**bert, false, true), "101:0 A0 102:0");
  EXPECT_EQ(plan(**bert, true, true), "101:0 A0 102:0 B1 102:1");
  EXPECT_EQ(plan(**bert, true, false), "A0 B1");
  EXPECT_EQ((*bert)->added_tokens(false), 2u);
  EXPECT_EQ((*bert)->added_tokens(true), 3u);
}

TEST_F(PostProcessorsTest, TemplateFollowsTheFile) {
  const auto made = make(kTemplate);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(plan(**made, false, true), "5:0 A0");
  EXPECT_EQ(plan(**made, true, true), "B3 6:1 7:1 A2");
  EXPECT_EQ(plan(**made, true, false), "B3 A2");
  EXPECT_EQ((*made)->added_tokens(false), 1u);
  EXPECT_EQ((*made)->added_tokens(true), 2u);
}

TEST_F(PostProcessorsTest, RobertaHasOneType) {
  const auto roberta = make(R"({"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]})");
  ASSERT_TRUE(roberta.ok());
  EXPECT_EQ(plan(**roberta, false, true), "0:0 A0 2:0");
  EXPECT_EQ(plan(**roberta, true, true), "0:0 A0 2:0 2:0 B0 2:0");
  EXPECT_EQ(plan(**roberta, true, false), "A0 B0");
  EXPECT_EQ((*roberta)->added_tokens(true), 4u);
}

TEST_F(PostProcessorsTest, SequencesTrimAndSurround) {
  const auto sequence = make(R"({"type": "Sequence", "processors": [{"type": "ByteLevel", "trim_offsets": true,
    "add_prefix_space": false}, )" +
                             std::string(kTemplate) + "]}");
  ASSERT_TRUE(sequence.ok());
  EXPECT_EQ(plan(**sequence, false, true), "5:0 A0");
  Plan parts = {{PlanStep{0, 0, 0, {}}}};
  ASSERT_TRUE((*sequence)->apply(parts, true).ok());
  EXPECT_EQ(parts.back().front().trims, (std::vector<Trim>{{false, true}}));
  EXPECT_EQ((*sequence)->added_tokens(false), 1u);
}

TEST_F(PostProcessorsTest, AreRefusedByName) {
  const auto where = [&](std::string_view json) { return make(json).error().where; };
  EXPECT_EQ(where(R"({"type": "Template"})"), "post_processor.type");
  EXPECT_EQ(where(R"({"type": "BertProcessing", "cls": ["[CLS]", 101]})"), "post_processor.sep");
  EXPECT_EQ(where(R"({"type": "BertProcessing", "cls": ["[CLS]"], "sep": ["x", 1]})"), "post_processor.cls");
  EXPECT_EQ(where(R"({"type": "BertProcessing", "cls": [101, "[CLS]"], "sep": ["x", 1]})"), "post_processor.cls");
  EXPECT_EQ(where(R"({"type": "TemplateProcessing", "single": [], "pair": 1})"), "post_processor.pair");
  EXPECT_EQ(where(R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "B", "type_id": 0}}], "pair": []})"),
            "post_processor.single[0].Sequence.id");
  EXPECT_EQ(where(R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}], "pair": []})"),
            "post_processor.single[0].SpecialToken.id");
  EXPECT_EQ(where(R"({"type": "TemplateProcessing", "single": [{"Text": {}}], "pair": []})"),
            "post_processor.single[0].Text");
}

}  // namespace
}  // namespace weir::tokenizers
