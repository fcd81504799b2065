#include "tokenizers/json/object.h"

#include <gtest/gtest.h>

namespace weir::tokenizers::json {
namespace {

class ObjectTest : public testing::Test {
 protected:
  Result<Object> parse(std::string_view json) {
    return Object::from(parser_.parse(json.data(), json.size()).value(), "model");
  }
  simdjson::dom::parser parser_;
};

TEST_F(ObjectTest, ReadsFields) {
  const auto object = parse(R"({"s": "x", "b": true, "n": 7, "o": {}, "a": [1], "null": null})");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(*object->string("s"), "x");
  EXPECT_EQ(*object->boolean("b"), true);
  EXPECT_EQ(*object->unsigned_or("n", 0, 10), 7u);
  EXPECT_EQ(*object->string_or("absent", "y"), "y");
  EXPECT_EQ(*object->boolean_or("null", true), true);
  EXPECT_EQ(object->object("o")->path(), "model.o");
  EXPECT_EQ(object->array("a")->size(), 1u);
  EXPECT_FALSE(object->find("null").has_value());
}

TEST_F(ObjectTest, NamesTheFieldThatIsMissingOrWrong) {
  const auto object = parse(R"({"s": 1, "n": -1, "big": 11})");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->string("absent").error().where, "model.absent");
  EXPECT_EQ(object->string("absent").error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(object->string("s").error().message, "model.s: expected a string, found a number");
  EXPECT_EQ(object->boolean("s").error().message, "model.s: expected a boolean, found a number");
  EXPECT_EQ(object->unsigned_or("n", 0, 10).error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(object->unsigned_or("big", 0, 10).error().message, "model.big: 11 is above the limit of 10");
  EXPECT_EQ(object->array("s").error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(parse("[]").error().message, "model: expected an object, found an array");
}

TEST_F(ObjectTest, RefusesFieldsItDoesNotKnow) {
  EXPECT_TRUE(parse(R"({"type": "X", "a": 1, "add_prefix_space": true})")->refuse_others({"a"}).ok());
  const Status status = parse(R"({"a": 1, "dropout": 0.1})")->refuse_others({"a"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(status.error().where, "model.dropout");
}

TEST(UnsupportedType, NamesTheNearest) {
  const std::string_view supported[] = {"BertNormalizer", "Lowercase"};
  const Error error = unsupported_type("normalizer.type", "normalizer", "LowerCase", supported);
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.message,
            "normalizer.type: the normalizer \"LowerCase\" is not supported; the nearest that is: \"Lowercase\"");
  EXPECT_NE(unsupported_type("t", "x", std::string(5000, '\n'), supported).message.size(), 5000u);
}

}  // namespace
}  // namespace weir::tokenizers::json
