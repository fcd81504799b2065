#include "huggingface/json_object.h"

#include <gtest/gtest.h>

namespace weir::huggingface {
namespace {

JsonObject object(const std::string& json) { return JsonObject::parse(json, "config.json").value(); }

TEST(JsonObject, ReadsEachType) {
  const JsonObject json =
      object(R"({"t":"x","b":true,"n":1.5,"c":7,"o":{"p":"q"},"l":["a","b"],"m":{"k":"v","e":null}})");
  EXPECT_EQ(json.text("t").value(), "x");
  EXPECT_EQ(json.boolean("b").value(), true);
  EXPECT_EQ(json.number("n").value(), 1.5);
  EXPECT_EQ(json.count("c", 7).value(), 7u);
  EXPECT_EQ(json.object("o").value()->text("p").value(), "q");
  EXPECT_EQ(json.texts("l").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(json.texts("t").value(), std::vector<std::string>{"x"});
  EXPECT_EQ(json.text_map("m").value(), (std::map<std::string, std::string>{{"k", "v"}, {"e", ""}}));
}

TEST(JsonObject, NullIsMissing) {
  const JsonObject json = object(R"({"t":null})");
  EXPECT_FALSE(json.has("t"));
  EXPECT_FALSE(json.text("t").value().has_value());
  EXPECT_FALSE(json.object("nothing").value().has_value());
}

TEST(JsonObject, WrongTypesNameFileAndField) {
  const JsonObject json = object(R"({"o":{"p":3},"l":["a",1],"m":{"k":2}})");
  const auto text = json.object("o").value()->text("p");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, "config.json: field 'o.p': expected a string, found a number");
  EXPECT_EQ(text.error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(text.error().where, "config.json");
  EXPECT_FALSE(json.texts("l").ok());
  EXPECT_FALSE(json.texts("m").ok());
  EXPECT_FALSE(json.boolean("o").ok());
  EXPECT_FALSE(json.number("l").ok());
  EXPECT_FALSE(json.object("l").ok());
  EXPECT_EQ(json.text_map("m").error().message, "config.json: field 'm.k': expected a string, found a number");
}

TEST(JsonObject, CountsAreWholeAndBounded) {
  const JsonObject json = object(R"({"a":-1,"b":1.5,"c":9,"d":1000000000000000019884624838656})");
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_FALSE(json.count(key, 8).ok()) << key;
  EXPECT_EQ(json.count("a", 8).error().message,
            "config.json: field 'a': expected a whole number from 0 to 8, found -1");
  EXPECT_EQ(json.number("d").value(), 1e30);
}

TEST(JsonObject, NotJson) {
  EXPECT_FALSE(JsonObject::parse("", "f").ok());
  EXPECT_FALSE(JsonObject::parse("{", "f").ok());
  EXPECT_FALSE(JsonObject::parse("{} x", "f").ok());
  EXPECT_FALSE(JsonObject::parse("{\"a\":\"\xff\"}", "f").ok());
  EXPECT_FALSE(JsonObject::parse(std::string(100000, '['), "f").ok());
  EXPECT_EQ(JsonObject::parse("[]", "f").error().message, "f: expected an object, found an array");
  EXPECT_EQ(JsonObject::parse_array("{}", "f").error().message, "f: expected an array, found an object");
  EXPECT_EQ(JsonObject::parse_array("[{},1]", "f").error().message, "f: [1]: expected an object, found a number");
  EXPECT_EQ(JsonObject::read("/nonexistent/f").error().kind, ErrorKind::kNotFound);
}

TEST(JsonObject, Counts) {
  const auto object = JsonObject::parse(R"({"a":[1,3],"b":[0],"c":3,"d":[9],"e":["1"],"f":null})", "x").value();
  EXPECT_EQ(object.counts("a", 8).value(), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_FALSE(object.counts("f", 8).value().has_value());
  for (const char* key : {"b", "c", "d", "e"}) {
    const auto counts = object.counts(key, 8);
    ASSERT_FALSE(counts.ok()) << key;
    EXPECT_NE(counts.error().message.find("whole numbers from 1 to 8"), std::string::npos);
  }
}

}  // namespace
}  // namespace weir::huggingface
