#include <gtest/gtest.h>

#include "tokenizers/normalizers/normalizer.h"

namespace weir::tokenizers {
namespace {

class NormalizersTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Normalizer>> make(std::string_view json) {
    auto config = json::Object::from(parser_.parse(json.data(), json.size()).value(), "normalizer");
    return make_normalizer(*config);
  }
  /// The aligned result; the unaligned one must be the same text.
  Text run(std::string_view json, std::string_view text) {
    const auto normalizer = make(json);
    EXPECT_TRUE(normalizer.ok());
    Text in;
    in.reset(true);
    in.append_original(text, 0);
    Text out;
    out.reset(true);
    (*normalizer)->normalize(in.whole(0), out);
    EXPECT_EQ(out.spans.size(), out.bytes.size());
    Text plain;
    (*normalizer)->normalize({text, nullptr, 0}, plain);
    EXPECT_EQ(plain.bytes, out.bytes);
    return out;
  }
  simdjson::dom::parser parser_;
};

constexpr std::string_view kUncased = R"({"type": "BertNormalizer"})";
constexpr std::string_view kCased = R"({"type": "BertNormalizer", "lowercase": false})";

TEST_F(NormalizersTest, BertLowersAndStripsAccents) {
  EXPECT_EQ(run(kUncased, "Ünïcode ÅÉ").bytes, "unicode ae");
  EXPECT_EQ(run(kUncased, "İ").bytes, "i");
  EXPECT_EQ(run(kCased, "Ünï").bytes, "Ünï");
  EXPECT_EQ(run(R"({"type": "BertNormalizer", "lowercase": true, "strip_accents": false})", "Ünİ").bytes, "üni\u0307");
  EXPECT_EQ(run(R"({"type": "BertNormalizer", "lowercase": false, "strip_accents": true})", "Ünï").bytes, "Uni");
  EXPECT_EQ(run(R"({"type": "BertNormalizer", "strip_accents": null})", "É").bytes, "e");
}

TEST_F(NormalizersTest, BertCleansText) {
  EXPECT_EQ(run(kUncased, std::string_view("a\0b\x01\xEF\xBF\xBD\u200Bc", 11)).bytes, "abc");
  EXPECT_EQ(run(kUncased, "a\t\n\r\u3000b").bytes, "a    b");
  EXPECT_EQ(run(R"({"type": "BertNormalizer", "clean_text": false})", std::string_view("a\0\tb\u3000", 7)).bytes,
            std::string_view("a\0\tb\u3000", 7));
}

TEST_F(NormalizersTest, BertSetsChineseCharactersApart) {
  const Text text = run(kUncased, "a漢b");
  EXPECT_EQ(text.bytes, "a 漢 b");
  EXPECT_EQ(text.spans[1], (Span{1, 4}));
  EXPECT_EQ(text.spans[5], (Span{1, 4}));
  EXPECT_EQ(run(R"({"type": "BertNormalizer", "handle_chinese_chars": false})", "a漢b").bytes, "a漢b");
  EXPECT_EQ(run(kUncased, "\uF900").bytes, " \u8C48 ");
}

TEST_F(NormalizersTest, BertKeepsTheAlignment) {
  EXPECT_EQ(run(kUncased, "éa\u0301b").spans, (std::vector<Span>{{0, 2}, {2, 3}, {5, 6}}));
  EXPECT_EQ(run(kUncased, "한").spans, std::vector<Span>(9, Span{0, 3}));
}

TEST_F(NormalizersTest, BertPutsMarksThatStayIntoOrder) {
  // U+302E (class 224) is a mark that is kept; U+0301 (class 230) is dropped. In order, U+302E stands at the first
  // place.
  const Text text = run(kUncased, "a\u0301\u302E");
  EXPECT_EQ(text.bytes, "a\u302E");
  EXPECT_EQ(text.spans[1], (Span{1, 3}));
  EXPECT_EQ(run(kUncased, "a\u0301\x01\u302E").spans[1], (Span{1, 3}));
  EXPECT_EQ(run(kUncased, "\u0301\u0323").bytes, "");
}

TEST_F(NormalizersTest, SimpleOnes) {
  EXPECT_EQ(run(R"({"type": "Lowercase"})", "ÀİZ").bytes, "ài\u0307z");
  EXPECT_EQ(run(R"({"type": "Lowercase"})", "aİ").spans, (std::vector<Span>{{0, 1}, {1, 3}, {1, 3}, {1, 3}}));
  EXPECT_EQ(run(R"({"type": "StripAccents"})", "e\u0301\u0903x").bytes, "ex");
  EXPECT_EQ(run(R"({"type": "Nmt"})", "a\x01\tb\u200B\u2581").bytes, "a b  ");
  EXPECT_EQ(run(R"({"type": "Strip"})", " \u3000a b\n").spans, (std::vector<Span>{{4, 5}, {5, 6}, {6, 7}}));
  EXPECT_EQ(run(R"({"type": "Strip", "strip_left": false, "strip_right": true})", " a ").bytes, " a");
  EXPECT_EQ(run(R"({"type": "Strip"})", " \n").bytes, "");
  EXPECT_EQ(run(R"({"type": "Prepend", "prepend": "▁"})", "ab").spans,
            (std::vector<Span>{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 2}}));
  EXPECT_EQ(run(R"({"type": "Prepend", "prepend": "▁"})", "").bytes, "");
  EXPECT_EQ(run(R"({"type": "ByteLevel"})", "é ").bytes, "Ã©Ġ");
}

TEST_F(NormalizersTest, UnicodeForms) {
  EXPECT_EQ(run(R"({"type": "NFC"})", "e\u0301x").spans, (std::vector<Span>{{0, 1}, {0, 1}, {3, 4}}));
  EXPECT_EQ(run(R"({"type": "NFD"})", "é").bytes, "e\u0301");
  EXPECT_EQ(run(R"({"type": "NFKC"})", "ﬁ①").bytes, "fi1");
  EXPECT_EQ(run(R"({"type": "NFKD"})", "ﬁ").spans, (std::vector<Span>{{0, 3}, {0, 3}}));
}

TEST_F(NormalizersTest, ReplaceStandsWhereTheMatchEnded) {
  const Text text = run(R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "__"})", "a   b");
  EXPECT_EQ(text.bytes, "a__b");
  EXPECT_EQ(text.spans, (std::vector<Span>{{0, 1}, {3, 4}, {3, 4}, {4, 5}}));
  EXPECT_EQ(run(R"({"type": "Replace", "pattern": {"String": "``"}, "content": "\""})", "``a``").bytes, "\"a\"");
}

TEST_F(NormalizersTest, SequencesMayStandInSequences) {
  constexpr std::string_view kNested = R"({"type": "Sequence", "normalizers": [{"type": "Strip"},
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]},
    {"type": "Sequence", "normalizers": []}, {"type": "Prepend", "prepend": "_"}]})";
  const Text text = run(kNested, " Éa ");
  EXPECT_EQ(text.bytes, "_ea");
  EXPECT_EQ(text.spans, (std::vector<Span>{{1, 3}, {1, 3}, {3, 4}}));
  EXPECT_EQ(make(R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "X"}]})").error().where,
            "normalizer.normalizers[1].type");
}

TEST_F(NormalizersTest, PrecompiledTablesAreChecked) {
  const auto where = [&](std::string_view charsmap) {
    return make(R"({"type": "Precompiled", "precompiled_charsmap": ")" + std::string(charsmap) + "\"}").error().where;
  };
  // Nothing, a length alone, a length beyond the end, no base64.
  for (const char* bad : {"", "BAAAAA==", "/////wAAAAA=", "a*b="})
    EXPECT_EQ(where(bad), "normalizer.precompiled_charsmap");
  // One unit that leads nowhere: every text stays as it is.
  constexpr std::string_view kEmpty = R"({"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAA="})";
  EXPECT_EQ(run(kEmpty, "aé\r\n👨‍👩‍👧🇩🇪 한").bytes, "aé\r\n👨‍👩‍👧🇩🇪 한");
}

TEST_F(NormalizersTest, AreRefusedByName) {
  EXPECT_EQ(make(R"({"type": "BertNormaliser"})").error().message,
            "normalizer.type: the normalizer \"BertNormaliser\" is not supported; the nearest that is: "
            "\"BertNormalizer\"");
  EXPECT_EQ(make(R"({"type": "BertNormalizer", "lowercase": 1})").error().where, "normalizer.lowercase");
  EXPECT_EQ(make(R"({"type": "BertNormalizer", "uppercase": true})").error().where, "normalizer.uppercase");
  EXPECT_EQ(make(R"({"lowercase": true})").error().where, "normalizer.type");
  EXPECT_EQ(make(R"({"type": 5})").error().kind, ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace weir::tokenizers
