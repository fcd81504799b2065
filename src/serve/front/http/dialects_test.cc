#include "serve/front/http/dialects.h"

#include <string>

#include <gtest/gtest.h>

namespace weir::serve::front::http {
namespace {

Result<ParsedBody> openai(std::string_view body) { return parse_openai_embeddings(body, 4); }
Result<ParsedBody> embed(std::string_view body) { return parse_tei_embed(body, 4); }
Result<ParsedBody> tokenize(std::string_view body) { return parse_tei_tokenize(body, 4); }

struct Refusal {
  std::string body;
  ErrorKind kind;
  std::string where;
  std::string says;  ///< Part of the message.
};

void expect_refusals(Result<ParsedBody> (*parse)(std::string_view), const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const auto parsed = parse(refusal.body);
    ASSERT_FALSE(parsed.ok()) << refusal.body;
    EXPECT_EQ(parsed.error().kind, refusal.kind) << refusal.body << ": " << parsed.error().message;
    EXPECT_EQ(parsed.error().where, refusal.where) << refusal.body << ": " << parsed.error().message;
    EXPECT_NE(parsed.error().message.find(refusal.says), std::string::npos)
        << refusal.body << ": " << parsed.error().message;
  }
}

TEST(OpenAiEmbeddings, ReadsEveryFormOfInput) {
  const auto one = openai(R"({"input":"a\u00e9\u0000b","model":"m"})");
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->model, "m");
  ASSERT_EQ(one->inputs.size(), 1u);
  EXPECT_EQ(one->inputs[0].text, std::string("a\xC3\xA9\0b", 5));
  EXPECT_FALSE(one->inputs[0].is_ids);

  const auto list = openai(R"({"input":["a","b"]})");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->model, "");
  ASSERT_EQ(list->inputs.size(), 2u);
  EXPECT_EQ(list->inputs[1].text, "b");

  const auto ids = openai(R"({"input":[1,2,2147483647]})");
  ASSERT_TRUE(ids.ok());
  ASSERT_EQ(ids->inputs.size(), 1u);
  EXPECT_TRUE(ids->inputs[0].is_ids);
  EXPECT_EQ(ids->inputs[0].ids, (std::vector<std::int32_t>{1, 2, 2147483647}));

  const auto lists = openai(R"({"input":[[1],[2,3]]})");
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->inputs.size(), 2u);
  EXPECT_EQ(lists->inputs[1].ids, (std::vector<std::int32_t>{2, 3}));
}

TEST(OpenAiEmbeddings, ReadsItsOptions) {
  const auto defaults = openai(R"({"input":"a","dimensions":null,"user":null,"unknown":{"deep":[1]},"unknown":2})");
  ASSERT_TRUE(defaults.ok()) << defaults.error().message;
  EXPECT_EQ(defaults->encoding, VectorEncoding::kFloat);
  EXPECT_FALSE(defaults->options.dimensions);
  EXPECT_FALSE(defaults->options.normalize);
  EXPECT_FALSE(defaults->options.truncate);

  const auto all = openai(
      R"({"user":"u","encoding_format":"base64","dimensions":64,"prompt_name":"query","truncate":false,"input":"a"})");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->encoding, VectorEncoding::kBase64);
  EXPECT_EQ(all->options.dimensions, 64u);
  EXPECT_EQ(all->options.prompt_name, "query");
  EXPECT_EQ(all->options.truncate, false);
}

TEST(OpenAiEmbeddings, NamesWhatIsWrong) {
  using enum ErrorKind;
  expect_refusals(
      openai,
      {
          {"", kMalformed, "", "empty"},
          {"  \n", kMalformed, "", "empty"},
          {"hello", kMalformed, "", "not valid JSON"},
          {R"({"input":"a")", kMalformed, "", "not valid JSON"},
          {R"({"input":"a"} x)", kMalformed, "", "not valid JSON"},
          {R"({"input":"a","x":tru})", kMalformed, "", "not valid JSON"},
          {R"({"input":"\ud800"})", kMalformed, "", "half of a surrogate pair"},
          {R"({"input":"a","dimensions":1e999})", kMalformed, "", "a number is malformed or too large"},
          {"\xEF\xBB\xBF{\"input\":\"a\"}", kMalformed, "", "byte order mark"},
          {"{\"input\":\"h\xC3\xA9h\xFF\"}", kMalformed, "", "not valid UTF-8 (first at byte 14)"},
          {"{\"input\":\"\xED\xA0\x80\"}", kMalformed, "", "not valid UTF-8 (first at byte 10)"},
          {std::string(20, '[') + "1" + std::string(20, ']'), kMalformed, "", "nests deeper"},
          {"[]", kInvalidArgument, "", "must be a JSON object, but is a list"},
          {"3", kInvalidArgument, "", "must be a JSON object"},
          {"{}", kInvalidArgument, "input", "missing"},
          {R"({"input":null})", kInvalidArgument, "input", "missing"},
          {R"({"input":3})", kInvalidArgument, "input", "but is an integer"},
          {R"({"input":{"a":1}})", kInvalidArgument, "input", "but is an object"},
          {R"({"input":""})", kEmptyInput, "input", "an empty string"},
          {R"({"input":[]})", kEmptyInput, "input", "an empty list"},
          {R"({"input":["a",""]})", kEmptyInput, "input[1]", "an empty string"},
          {R"({"input":[[]]})", kEmptyInput, "input[0]", "an empty list of token ids"},
          {R"({"input":["a",1]})", kInvalidArgument, "input[1]", "a string or a list of token ids, but is an integer"},
          {R"({"input":["a",null]})", kInvalidArgument, "input[1]", "but is null"},
          {R"({"input":[1,"a"]})", kInvalidArgument, "input[1]", "a token id, but is a string"},
          {R"({"input":[[1],[2,-3]]})", kInvalidArgument, "input[1][1]", "0…2147483647"},
          {R"({"input":[2147483648]})", kInvalidArgument, "input[0]", "0…2147483647"},
          {R"({"input":[1.5]})", kInvalidArgument, "input[0]", "a number with a fraction"},
          {R"({"input":["a","b","c","d","e"]})", kTooManyInputs, "input", "5 texts, more than the 4"},
          {R"({"input":"a","input":"b"})", kInvalidArgument, "input", "twice"},
          {R"({"input":"a","model":3})", kInvalidArgument, "model", "must be a string"},
          {R"({"input":"a","user":{}})", kInvalidArgument, "user", "must be a string"},
          {R"({"input":"a","encoding_format":"int8"})", kInvalidArgument, "encoding_format", "'base64'"},
          {R"({"input":"a","dimensions":0})", kInvalidArgument, "dimensions", "from 1"},
          {R"({"input":"a","dimensions":-5})", kInvalidArgument, "dimensions", "from 1"},
          {R"({"input":"a","dimensions":4294967296})", kInvalidArgument, "dimensions", "from 1"},
          {R"({"input":"a","dimensions":"8"})", kInvalidArgument, "dimensions", "but is a string"},
          {R"({"input":"a","dimensions":8.0})", kInvalidArgument, "dimensions", "fraction"},
          {R"({"input":"a","truncate":"yes"})", kInvalidArgument, "truncate", "true or false"},
      });
}

TEST(OpenAiEmbeddings, TakesATextOfAMillionCharacters) {
  const auto parsed = openai(R"({"input":")" + std::string(1'000'000, 'x') + R"("})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->inputs[0].text.size(), 1'000'000u);
}

TEST(TeiEmbed, ReadsItsOptions) {
  const auto defaults = embed(R"({"inputs":"a"})");
  ASSERT_TRUE(defaults.ok());
  EXPECT_EQ(defaults->options.normalize, true);
  EXPECT_EQ(defaults->options.truncation_side, tokenizers::Side::kRight);
  EXPECT_FALSE(defaults->options.truncate);
  const auto all = embed(
      R"({"inputs":[[5]],"normalize":false,"truncate":true,"truncation_direction":"left","prompt_name":"q","dimensions":2})");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->options.normalize, false);
  EXPECT_EQ(all->options.truncate, true);
  EXPECT_EQ(all->options.truncation_side, tokenizers::Side::kLeft);
  EXPECT_EQ(all->options.prompt_name, "q");
  EXPECT_EQ(all->options.dimensions, 2u);
  EXPECT_TRUE(all->inputs[0].is_ids);
  EXPECT_EQ(embed(R"({"inputs":"a","truncation_direction":"Left"})")->options.truncation_side, tokenizers::Side::kLeft);
}

TEST(TeiEmbed, NamesWhatIsWrong) {
  using enum ErrorKind;
  expect_refusals(
      embed, {
                 {R"({"input":"a"})", kInvalidArgument, "inputs", "missing"},
                 {R"({"inputs":[""]})", kEmptyInput, "inputs[0]", "empty string"},
                 {R"({"inputs":"a","truncation_direction":"up"})", kInvalidArgument, "truncation_direction", "'Left'"},
                 {R"({"inputs":"a","normalize":1})", kInvalidArgument, "normalize", "true or false"},
                 {R"({"inputs":["a","b","c","d","e"]})", kTooManyInputs, "inputs", "more than the 4"},
             });
}

TEST(TeiTokenize, TakesTextsOnly) {
  const auto parsed = tokenize(R"({"inputs":["a","b"],"add_special_tokens":false,"prompt_name":"q"})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->options.add_special_tokens);
  EXPECT_EQ(parsed->options.prompt_name, "q");
  EXPECT_TRUE(tokenize(R"({"inputs":"a"})")->options.add_special_tokens);
  expect_refusals(tokenize,
                  {
                      {R"({"inputs":[1,2]})", ErrorKind::kInvalidArgument, "inputs[0]", "must be a string"},
                      {R"({"inputs":[["a"]]})", ErrorKind::kInvalidArgument, "inputs[0]", "must be a string"},
                      {R"({"inputs":7})", ErrorKind::kInvalidArgument, "inputs", "a string or a list of strings"},
                  });
}

}  // namespace
}  // namespace weir::serve::front::http
