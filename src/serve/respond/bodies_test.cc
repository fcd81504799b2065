// What clients read: the pieces of JSON, base64, and each dialect's bodies.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/json_text.h"
#include "serve/respond/base64.h"
#include "serve/respond/openai.h"
#include "serve/respond/tei.h"

namespace weir::serve::respond {
namespace {

std::string as_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string as_float(float number) {
  std::string out;
  append_json_float(out, number);
  return out;
}

TEST(JsonString, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(as_string("plain"), R"("plain")");
  EXPECT_EQ(as_string("\"\\/\n\r\t"), R"("\"\\/\n\r\t")");
  EXPECT_EQ(as_string(std::string_view("\0\x01\x1f\x7f", 4)), R"("\u0000\u0001\u001f\u007f")");
  EXPECT_EQ(as_string("é€😀"), "\"é€😀\"");
}

TEST(JsonString, ReplacesBytesThatAreNotUtf8) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(as_string("a\xFFz"), "\"a" + r + "z\"");
  EXPECT_EQ(as_string("\xC3"), "\"" + r + "\"");
  EXPECT_EQ(as_string("\xC0\x80"), "\"" + r + r + "\"");
  EXPECT_EQ(as_string("\xED\xA0\x80"), "\"" + r + r + r + "\"");
  EXPECT_EQ(as_string("\xE2\x82"), "\"" + r + r + "\"");
  EXPECT_EQ(as_string("\xF4\x90\x80\x80"), "\"" + r + r + r + r + "\"");
}

TEST(JsonFloat, IsShortAndReadsBackTheSame) {
  EXPECT_EQ(as_float(0.1f), "0.1");
  EXPECT_EQ(as_float(-2.5f), "-2.5");
  EXPECT_EQ(as_float(0.0f), "0");
  EXPECT_EQ(as_float(std::nanf("")), "null");
  EXPECT_EQ(as_float(std::numeric_limits<float>::infinity()), "null");
  std::uint32_t bits = 1;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    float number = 0;
    std::memcpy(&number, &bits, sizeof(number));
    if (!std::isfinite(number)) continue;
    EXPECT_EQ(std::strtof(as_float(number).c_str(), nullptr), number);
  }
}

TEST(Base64, PadsAsTheStandardSays) {
  const auto encode = [](std::string_view text) {
    std::string out;
    append_base64(out, std::as_bytes(std::span(text.data(), text.size())));
    return out;
  };
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foo"), "Zm9v");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode("\xff\xfe\xfd"), "//79");
}

TEST(Base64, HoldsFloatsInLittleEndian) {
  const std::vector<float> numbers = {1.0f, -2.0f};
  std::string out;
  append_base64(out, std::span<const float>(numbers));
  EXPECT_EQ(out, "AACAPwAAAMA=");
}

TEST(OpenAi, WritesEmbeddings) {
  const std::vector<float> values = {0.5f, 1.0f, -0.25f, 2.0f};
  EXPECT_EQ(openai_embeddings({values, 2}, false, "m\"", 7),
            R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,1]},)"
            R"({"object":"embedding","index":1,"embedding":[-0.25,2]}],"model":"m\"",)"
            R"("usage":{"prompt_tokens":7,"total_tokens":7}})");
  const std::vector<float> one = {1.0f, -2.0f};
  EXPECT_NE(openai_embeddings({one, 2}, true, "m", 1).find(R"("embedding":"AACAPwAAAMA=")"), std::string::npos);
}

TEST(OpenAi, ListsModels) {
  EXPECT_EQ(openai_models({}), R"({"object":"list","data":[]})");
  const std::vector<ModelCard> models = {{"a", 1}, {"b", 2}};
  EXPECT_EQ(openai_models(models),
            R"({"object":"list","data":[{"id":"a","object":"model","created":1,"owned_by":"weir"},)"
            R"({"id":"b","object":"model","created":2,"owned_by":"weir"}]})");
}

TEST(Tei, WritesEmbeddings) {
  const std::vector<float> values = {0.5f, 1.0f};
  EXPECT_EQ(tei_embed({values, 1}), "[[0.5],[1]]");
}

TEST(Tei, WritesInfo) {
  Info info;
  info.model_id = "m";
  info.model_dtype = "fp32";
  info.model_type = "embedding";
  info.pooling = "mean";
  info.max_input_length = 256;
  info.version = "1";
  const std::string body = tei_info(info);
  EXPECT_NE(body.find(R"("model_sha":null)"), std::string::npos);
  EXPECT_NE(body.find(R"("model_type":{"embedding":{"pooling":"mean"}})"), std::string::npos);
  EXPECT_NE(body.find(R"("max_input_length":256)"), std::string::npos);
}

/// Enough of a tokenizer to name tokens.
class Names final : public tokenizers::Tokenizer {
 public:
  Result<tokenizers::Encoding> encode(std::string_view, const tokenizers::EncodeOptions&) const override {
    return tokenizers::Encoding();
  }
  Result<tokenizers::Encoding> encode_pair(std::string_view, std::string_view,
                                           const tokenizers::EncodeOptions&) const override {
    return tokenizers::Encoding();
  }
  Result<tokenizers::Encoding> encode_ids(std::span<const std::int32_t>,
                                          const tokenizers::EncodeOptions&) const override {
    return tokenizers::Encoding();
  }
  Result<std::string> decode(std::span<const std::int32_t>, bool) const override { return std::string(); }
  std::optional<std::int32_t> token_to_id(std::string_view) const override { return std::nullopt; }
  std::string_view id_to_token(std::int32_t id) const override { return id == 101 ? "[CLS]" : "other"; }
  std::uint32_t vocabulary_size() const override { return 200; }
  std::uint32_t special_tokens_added() const override { return 1; }
};

TEST(Tei, CountsTokenOffsetsInBytes) {
  tokenizers::Encoding encoding;
  encoding.ids = {101, 5, 6};
  encoding.offsets = {{0, 0}, {0, 2}, {3, 4}};
  encoding.special = {1, 0, 0};
  EXPECT_EQ(tei_tokenize({{"né €", &encoding}}, Names()),
            R"([[{"id":101,"text":"[CLS]","special":true,"start":null,"stop":null},)"
            R"({"id":5,"text":"né","special":false,"start":0,"stop":3},)"
            R"({"id":6,"text":"€","special":false,"start":4,"stop":7}]])");
}

TEST(Tei, SurvivesOffsetsThatDoNotFitTheText) {
  tokenizers::Encoding encoding;
  encoding.ids = {5, 6};
  encoding.offsets = {{2, 900}, {900, 1}};
  encoding.special = {0, 0};
  EXPECT_NE(tei_tokenize({{"abc", &encoding}}, Names()).find(R"("text":"c","special":false,"start":2,"stop":3)"),
            std::string::npos);
  EXPECT_EQ(tei_tokenize({}, Names()), "[]");
}

}  // namespace
}  // namespace weir::serve::respond
