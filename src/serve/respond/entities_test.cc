#include "serve/respond/entities.h"

#include <memory>

#include <gtest/gtest.h>

namespace weir::serve::respond {
namespace {

const std::vector<std::string> kLabels = {"O", "B-X", "I-X", "B-Y"};

/// "the boats fished" is: [CLS] the boat ##s fish ##ed [SEP].
class EntitiesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tokenizer_ = tokenizers::Tokenizer::from_file(WEIR_TEST_DATA "/families/tokenizer.json").value();
    tokenizers::EncodeOptions options;
    options.with_offsets = true;
    encoding_ = tokenizer_->encode(text_, options).value();
    ASSERT_EQ(encoding_.ids.size(), 7u);
    scores_.assign(7 * kLabels.size(), 0.0f);
  }
  void set(std::size_t token, std::size_t label, float score) { scores_[token * kLabels.size() + label] = score; }
  std::string result(std::string_view aggregation) {
    const LabelledTokens tokens{text_, &encoding_, tokenizer_.get(), scores_, kLabels};
    std::string line;
    for (const Entity& entity : entities(tokens, aggregation)) {
      line += entity.label + ":" + entity.word + "@" + std::to_string(entity.start) + "-" + std::to_string(entity.end) +
              " ";
    }
    return line;
  }

  std::string text_ = "the boats fished";
  std::unique_ptr<tokenizers::Tokenizer> tokenizer_;
  tokenizers::Encoding encoding_;
  std::vector<float> scores_;
};

TEST_F(EntitiesTest, NothingWhereAllIsOutside) {
  EXPECT_EQ(result("simple"), "");
  EXPECT_EQ(result("none"), "");
}

TEST_F(EntitiesTest, TokensAloneAndJoined) {
  set(2, 1, 0.9f);
  set(3, 2, 0.8f);
  set(4, 2, 0.7f);
  set(5, 3, 0.6f);
  EXPECT_EQ(result("none"), "B-X:boat@4-8 I-X:s@8-9 I-X:fish@10-14 B-Y:ed@14-16 ");
  EXPECT_EQ(result("simple"), "X:boats fish@4-14 Y:ed@14-16 ");
}

TEST_F(EntitiesTest, APieceThatBeginsAnewIsItsOwn) {
  set(2, 1, 0.9f);
  set(3, 1, 0.9f);
  EXPECT_EQ(result("simple"), "X:boat@4-8 X:s@8-9 ");
}

TEST_F(EntitiesTest, WordsTakeOneLabel) {
  set(4, 1, 0.6f);
  set(5, 3, 0.9f);
  EXPECT_EQ(result("first"), "X:fished@10-16 ");
  EXPECT_EQ(result("max"), "Y:fished@10-16 ");
  EXPECT_EQ(result("average"), "Y:fished@10-16 ");
  set(4, 1, 1.0f);
  EXPECT_EQ(result("average"), "X:fished@10-16 ");
}

TEST_F(EntitiesTest, Json) {
  const std::vector<Entity> list = {{"X", 0.5f, "\"a\"", 1, 4}};
  EXPECT_EQ(entities_json(list, "max"), R"([{"entity_group":"X","score":0.5,"word":"\"a\"","start":1,"end":4}])");
  EXPECT_EQ(entities_json({}, "none"), "[]");
}

}  // namespace
}  // namespace weir::serve::respond
