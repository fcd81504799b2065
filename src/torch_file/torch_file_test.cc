#include "torch_file/torch_file.h"

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"

namespace weir::torch_file {
namespace {

std::string path_of(const std::string& name) { return WEIR_TEST_DATA "/tasks/three_vectors/" + name; }
std::string file_of(const std::string& name) { return read_file(path_of(name), 1 << 20).value(); }

Result<safetensors::Tensors> parse(const std::string& bytes) {
  return torch_file::parse(std::as_bytes(std::span(bytes)), "x.pt");
}

/// Of a file with one piece replaced by another of the same length.
std::string with(std::string bytes, const std::string& from, const std::string& to) {
  EXPECT_EQ(from.size(), to.size());
  const auto at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return bytes.replace(at, from.size(), to);
}

void expect_refused(const std::string& bytes, const std::string& part, ErrorKind kind) {
  const auto tensors = parse(bytes);
  ASSERT_FALSE(tensors.ok()) << part;
  EXPECT_NE(tensors.error().message.find(part), std::string::npos) << tensors.error().message;
  EXPECT_EQ(tensors.error().kind, kind) << tensors.error().message;
}

TEST(TorchFile, ReadsFloatsAndHalves) {
  const auto words = read_state_dict(path_of("sparse_linear.pt"));
  ASSERT_TRUE(words.ok()) << words.error().message;
  ASSERT_EQ(words->size(), 2u);
  EXPECT_EQ(words->at("weight").shape, (std::vector<std::uint64_t>{1, 16}));
  EXPECT_EQ(words->at("bias").shape, (std::vector<std::uint64_t>{1}));
  for (const float value : words->at("weight").values) EXPECT_LE(std::abs(value), 0.25f);
  const auto vectors = read_state_dict(path_of("colbert_linear.pt"));
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ(vectors->at("weight").values.size(), 128u);
  EXPECT_NE(vectors->at("weight").values[0], 0.0f);
}

TEST(TorchFile, AWholeModelIsViewedWhereItLies) {
  const auto file = File::open(WEIR_TEST_DATA "/torch/pytorch_model.bin");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto original = safetensors::File::open(WEIR_TEST_DATA "/tiny-bert/model.safetensors");
  ASSERT_EQ(file->tensors().size(), original->tensors().size() + 1);
  for (const auto& [name, tensor] : original->tensors()) {
    ASSERT_TRUE(file->tensors().contains(name)) << name;
    const safetensors::Tensor& same = file->tensors().at(name);
    EXPECT_EQ(same.dtype, safetensors::DType::kBF16) << name;
    EXPECT_EQ(same.shape, tensor.shape) << name;
    EXPECT_EQ(same.floats().value(), tensor.floats().value()) << name;
  }
  const safetensors::Tensor& positions = file->tensors().at("embeddings.position_ids");
  EXPECT_EQ(positions.shape, (std::vector<std::uint64_t>{1, 64}));
  EXPECT_EQ(positions.integers().value().back(), 63);
}

TEST(TorchFile, EveryTruncationIsRefused) {
  const std::string bytes = file_of("sparse_linear.pt");
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(parse(bytes.substr(0, size)).ok()) << size;
}

TEST(TorchFile, EveryChangedByteIsReadOrRefused) {
  const std::string bytes = file_of("sparse_linear.pt");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const auto tensors = parse(changed);
      EXPECT_TRUE(tensors.ok() || !tensors.error().message.empty());
    }
  }
}

TEST(TorchFile, WhatIsRefusedByName) {
  const std::string bytes = file_of("sparse_linear.pt");
  expect_refused("", "not a zip archive", ErrorKind::kUnsupported);
  expect_refused("\x80\x02 an older file", "not a zip archive", ErrorKind::kUnsupported);
  expect_refused("PK and then nothing that is one", "no end record", ErrorKind::kCorrupt);
  expect_refused(with(bytes, "_rebuild_tensor_v2", "_rebuild_tensor_v9"), "it calls 'torch._utils _rebuild_tensor_v9'",
                 ErrorKind::kUnsupported);
  expect_refused(with(bytes, "collections\nOrderedDict", "posix_calls\nsystem_call"),
                 "it calls 'posix_calls system_call'", ErrorKind::kUnsupported);
  expect_refused(with(bytes, "FloatStorage", "QInt8Storage"), "elements of torch QInt8Storage",
                 ErrorKind::kUnsupported);
}

TEST(TorchFile, AMissingFile) { EXPECT_EQ(read_state_dict("/nowhere/x.pt").error().kind, ErrorKind::kNotFound); }

}  // namespace
}  // namespace weir::torch_file
