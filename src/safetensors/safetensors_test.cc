#include "safetensors/safetensors.h"

#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "safetensors/testing.h"

namespace weir::safetensors {
namespace {

using testing::bytes_of;
using testing::entry;
using testing::file_of;
using testing::span_of;
using testing::TestTensor;
using testing::with_header;

TestTensor floats(const std::string& name, std::vector<std::uint64_t> shape, const std::vector<float>& values) {
  return {name, "F32", std::move(shape), bytes_of(values)};
}

/// The message of a file that must not parse.
std::string refusal(const std::string& file, ErrorKind kind = ErrorKind::kCorrupt) {
  const auto parsed = parse(span_of(file), "m.safetensors");
  if (parsed.ok()) return "it was accepted";
  EXPECT_EQ(parsed.error().kind, kind) << parsed.error().message;
  EXPECT_EQ(parsed.error().where, "m.safetensors");
  return parsed.error().message;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Safetensors, ReadsTensorsOfSeveralTypes) {
  const std::string file = file_of({floats("a.weight", {2, 2}, {1, 2, 3, 4}),
                                    {"b", "I64", {3}, bytes_of<std::int64_t>({7, -8, 9})},
                                    {"empty", "F16", {0, 5}, ""},
                                    {"scalar", "BF16", {}, bytes_of<std::uint16_t>({0x3F80})}});
  const auto parsed = parse(span_of(file), "m.safetensors");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 4u);
  const Tensor& a = parsed->at("a.weight");
  EXPECT_EQ(a.shape, (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(a.elements(), 4u);
  EXPECT_EQ(a.floats().value(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(parsed->at("b").integers().value(), (std::vector<std::int64_t>{7, -8, 9}));
  EXPECT_EQ(parsed->at("empty").elements(), 0u);
  EXPECT_EQ(parsed->at("scalar").floats().value(), std::vector<float>{1.0f});
}

TEST(Safetensors, HeaderMayBePaddedWithSpaces) {
  const TestTensor tensor = floats("a", {1}, {5});
  const std::string file = with_header("{" + entry(tensor, 0, 4) + "}     ", tensor.bytes);
  EXPECT_TRUE(parse(span_of(file), "m").ok());
}

TEST(Safetensors, NoTensorsAtAll) {
  const auto parsed = parse(span_of(with_header("{}", "")), "m");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->empty());
}

TEST(Safetensors, TypesThatAreNoWeightsAreRefusedByName) {
  const std::string file = file_of({{"w", "F64", {1}, std::string(8, '\0')}});
  const auto parsed = parse(span_of(file), "m.safetensors");
  ASSERT_TRUE(parsed.ok());
  const auto values = parsed->at("w").floats();
  ASSERT_FALSE(values.ok());
  EXPECT_EQ(values.error().kind, ErrorKind::kUnsupported);
  expect_contains(values.error().message, "'w' is of type F64");
  EXPECT_FALSE(parsed->at("w").integers().ok());
}

// Whatever is cut off, the file is refused and nothing is read past its end.
TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string file = file_of({floats("a", {2}, {1, 2}), floats("b", {1}, {3})});
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string cut = file.substr(0, size);
    EXPECT_FALSE(parse(span_of(cut), "m").ok()) << size;
  }
  expect_contains(refusal(file.substr(0, file.size() - 1)), "tensor 'b'");
  expect_contains(refusal(file.substr(0, file.size() - 1)), "truncated");
}

TEST(Safetensors, HeaderLengthPastTheEnd) {
  std::string file = file_of({floats("a", {1}, {1})});
  file[7] = '\x7f';
  expect_contains(refusal(file), "truncated or not a safetensors file");
  expect_contains(refusal("PK"), "too short");
}

TEST(Safetensors, HeaderThatIsNotJson) {
  expect_contains(refusal(with_header("{\"a\":", "")), "not valid JSON");
  expect_contains(refusal(with_header("[]", "")), "not a JSON object");
  expect_contains(refusal(with_header("", "")), "not valid JSON");
  expect_contains(refusal(with_header(std::string(100, '['), "")), "header");
}

TEST(Safetensors, OffsetsPastTheEnd) {
  const TestTensor tensor = floats("layer.weight", {4}, {1, 2, 3, 4});
  const std::string message = refusal(with_header("{" + entry(tensor, 8, 24) + "}", tensor.bytes));
  expect_contains(message, "m.safetensors: tensor 'layer.weight'");
  expect_contains(message, "[8, 24)");
  expect_contains(message, "16 bytes");
  expect_contains(refusal(with_header("{" + entry(tensor, 18446744073709551600ull, 18446744073709551615ull) + "}", "")),
                  "truncated");
}

TEST(Safetensors, OffsetsReversedMissingOrMalformed) {
  const TestTensor tensor = floats("a", {1}, {1});
  expect_contains(refusal(with_header("{" + entry(tensor, 4, 0) + "}", tensor.bytes)), "[4, 0)");
  for (const char* offsets : {"", R"(,"data_offsets":[0])", R"(,"data_offsets":[0,4,4])", R"(,"data_offsets":[-1,4])",
                              R"(,"data_offsets":["0",4])", R"(,"data_offsets":[0,4.0])"}) {
    const std::string header = std::string(R"({"a":{"dtype":"F32","shape":[1])") + offsets + "}}";
    expect_contains(refusal(with_header(header, tensor.bytes)), "data_offsets");
  }
}

TEST(Safetensors, ShapeThatDisagreesWithTheBytes) {
  const std::string message = refusal(file_of({floats("a", {3}, {1, 2})}));
  expect_contains(message, "shape [3] of F32 needs 12 bytes, but it has 8");
}

TEST(Safetensors, ShapeThatOverflows) {
  const TestTensor tensor{"a", "F32", {1ull << 40, 1ull << 40}, ""};
  expect_contains(refusal(file_of({tensor})), "too large");
  // 2^62 × 4 bytes wraps to zero, which would "fit" an empty tensor.
  expect_contains(refusal(file_of({{"a", "F32", {1ull << 62}, ""}})), "too large");
}

TEST(Safetensors, ShapeMalformed) {
  for (const char* shape : {"null", "4", "[-1]", "[1.5]", "[\"1\"]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"}) {
    const std::string header = std::string(R"({"a":{"dtype":"F32","data_offsets":[0,4],"shape":)") + shape + "}}";
    EXPECT_NE(refusal(with_header(header, std::string(4, '\0'))), "it was accepted") << shape;
  }
}

TEST(Safetensors, OverlapHoleAndRest) {
  const TestTensor a = floats("a", {2}, {1, 2});
  const TestTensor b = floats("b", {2}, {3, 4});
  expect_contains(refusal(with_header("{" + entry(a, 0, 8) + "," + entry(b, 4, 12) + "}", std::string(12, '\0'))),
                  "tensor 'b': its bytes overlap");
  expect_contains(refusal(with_header("{" + entry(a, 0, 8) + "," + entry(b, 12, 20) + "}", std::string(20, '\0'))),
                  "tensor 'b': there are bytes before it");
  expect_contains(refusal(file_of({a}) + "rest"), "4 bytes at the end");
}

TEST(Safetensors, DuplicateNames) {
  const TestTensor a = floats("a", {1}, {1});
  const std::string header = "{" + entry(a, 0, 4) + "," + entry(a, 4, 8) + "}";
  expect_contains(refusal(with_header(header, std::string(8, '\0'))), "tensor 'a': stands in the header twice");
}

TEST(Safetensors, UnknownType) {
  expect_contains(refusal(file_of({{"a", "F4", {1}, "x"}}), ErrorKind::kUnsupported), "unknown dtype 'F4'");
  expect_contains(refusal(with_header(R"({"a":{"shape":[],"data_offsets":[0,0]}})", "")), "dtype");
  expect_contains(refusal(with_header(R"({"a":3})", "")), "not an object");
  expect_contains(refusal(with_header(R"({"":{"dtype":"F32","shape":[],"data_offsets":[0,0]}})", "")), "name");
}

TEST(Safetensors, OpensAFile) {
  const std::string path = ::testing::TempDir() + "/weir_open.safetensors";
  ASSERT_TRUE(write_file(path, file_of({floats("a", {1}, {1.5f})})).ok());
  auto opened = File::open(path);
  ASSERT_TRUE(opened.ok());
  const File moved = std::move(*opened);
  EXPECT_EQ(moved.tensors().at("a").floats().value(), std::vector<float>{1.5f});
  EXPECT_EQ(File::open(path + ".none").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace weir::safetensors
