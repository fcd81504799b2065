#include "session/session.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace weir::session {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = WEIR_TEST_DATA "/onnx";
constexpr std::size_t kHidden = 16;

/// Keeps what a Batch points to.
struct Padded {
  std::vector<std::int64_t> ids, mask, types;
  Batch batch;

  Padded(std::size_t rows, std::size_t columns, std::int64_t id = 3)
      : ids(rows * columns, id), mask(rows * columns, 1), types(rows * columns, 0) {
    batch = {rows, columns, ids, mask, types};
  }
};

std::unique_ptr<Session> load(const std::string& name, const Options& options = {}, SharedWeights* shared = nullptr) {
  auto session = Session::load(kFolder + "/" + name, options, shared);
  EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().message);
  return session.ok() ? std::move(session).value() : nullptr;
}

std::vector<float> values(Session& session, const Batch& batch, bool shrink = false) {
  const auto tensor = session.run(batch, "last_hidden_state", shrink);
  EXPECT_TRUE(tensor.ok()) << (tensor.ok() ? "" : tensor.error().message);
  if (!tensor.ok()) return {};
  return {tensor->values().begin(), tensor->values().end()};
}

TEST(Session, DescribesTheGraph) {
  const auto session = load("encoder.onnx");
  ASSERT_EQ(session->inputs().size(), 3U);
  EXPECT_EQ(session->inputs()[0].name, "input_ids");
  EXPECT_EQ(session->inputs()[0].type, "int64");
  EXPECT_EQ(session->inputs()[0].shape, (std::vector<std::int64_t>{-1, -1}));
  ASSERT_EQ(session->outputs().size(), 2U);
  EXPECT_EQ(session->outputs()[0].type, "float");
  EXPECT_EQ(session->outputs()[0].shape, (std::vector<std::int64_t>{-1, -1, kHidden}));
}

TEST(Session, OutputHasTheBatchesShapeAndOutlivesTheNextRun) {
  const auto session = load("encoder.onnx");
  Padded first(2, 3);
  Padded second(1, 5, 4);
  auto one = session->run(first.batch, "last_hidden_state");
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(std::vector<std::int64_t>(one->shape().begin(), one->shape().end()),
            (std::vector<std::int64_t>{2, 3, kHidden}));
  const std::vector<float> before(one->values().begin(), one->values().end());
  ASSERT_EQ(before.size(), 2 * 3 * kHidden);
  const Tensor kept = std::move(one).value();
  ASSERT_TRUE(session->run(second.batch, "last_hidden_state").ok());
  EXPECT_EQ(std::vector<float>(kept.values().begin(), kept.values().end()), before);
}

TEST(Session, EveryOptionGivesTheSameNumbers) {
  Padded batch(4, 7);
  for (std::size_t i = 0; i < batch.ids.size(); ++i) batch.ids[i] = static_cast<std::int64_t>(i % 12);
  const auto expected = values(*load("encoder.onnx"), batch.batch);
  ASSERT_FALSE(expected.empty());
  for (int bits = 0; bits < 32; ++bits) {
    Options options;
    options.intra_op_threads = (bits & 1) != 0 ? 2 : 1;
    options.memory_pattern = (bits & 2) != 0;
    options.arena = (bits & 4) != 0 ? Arena::kSession : Arena::kNone;
    options.parallel_execution = (bits & 8) != 0;
    options.spinning = (bits & 16) != 0 ? Spinning::kAlways : Spinning::kDuringRuns;
    const auto session = load("encoder.onnx", options);
    EXPECT_EQ(values(*session, batch.batch), expected) << bits;
    EXPECT_EQ(values(*session, batch.batch, options.arena != Arena::kNone), expected) << bits;
  }
}

TEST(Session, TheProcessesArenaIsBounded) {
  Options options;
  options.arena = Arena::kProcess;
  options.arena_limit_bytes = 8 << 20;
  const auto one = load("encoder.onnx", options);
  options.arena_limit_bytes = 0;  // the first session's value holds
  const auto two = load("encoder.onnx", options);
  const Padded small(2, 6);
  const auto expected = values(*load("encoder.onnx"), small.batch);
  const Padded large(1000, 200);  // 16 floats a token: 12.8 MB
  for (auto* session : {one.get(), two.get()}) {
    const auto result = session->run(large.batch, "last_hidden_state");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::kBackend);
    EXPECT_EQ(values(*session, small.batch), expected);
    EXPECT_EQ(values(*session, small.batch, true), expected);
  }
}

TEST(Session, ThreadsCanBePinned) {
  Options options;
  options.intra_op_threads = 2;
  options.cpus = {0, 0};  // processor 0 is always there
  const auto session = load("encoder.onnx", options);
  EXPECT_FALSE(values(*session, Padded(2, 2).batch).empty());
}

TEST(Session, SharedExternalWeightsGiveTheSameNumbers) {
  Padded batch(3, 4);
  const auto expected = values(*load("encoder.onnx"), batch.batch);
  EXPECT_EQ(values(*load("encoder_external.onnx"), batch.batch), expected);
  SharedWeights shared;
  const auto one = load("encoder_external.onnx", {}, &shared);
  const auto two = load("encoder_external.onnx", {}, &shared);
  EXPECT_EQ(values(*one, batch.batch), expected);
  EXPECT_EQ(values(*two, batch.batch), expected);
}

TEST(Session, WeightsAreOfOneModelOnly) {
  SharedWeights shared;
  const auto one = load("encoder_external.onnx", {}, &shared);
  const auto other = Session::load(kFolder + "/pooled.onnx", {}, &shared);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::kInternal);
}

TEST(Session, ManyThreadsMayRunAtOnce) {
  const auto session = load("encoder.onnx");
  Padded batch(2, 6);
  const auto expected = values(*session, batch.batch);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int run = 0; run < 20; ++run) EXPECT_EQ(values(*session, batch.batch), expected);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Session, WrongBatchesAreRefused) {
  const auto session = load("encoder.onnx");
  Padded batch(2, 3);
  batch.batch.token_type_ids = {};
  auto result = session->run(batch.batch, "last_hidden_state");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "token_type_ids");
  for (const char* name : {"logits", "copied_ids"}) {
    result = session->run(Padded(1, 1).batch, name);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::kInvalidArgument);
  }
  const auto int32 = load("int32.onnx");
  EXPECT_FALSE(int32->run(Padded(1, 1).batch, "last_hidden_state").ok());
}

TEST(Session, AnIdOutsideTheTableFailsTheRunOnly) {
  const auto session = load("encoder.onnx");
  const auto result = session->run(Padded(1, 2, 16).batch, "last_hidden_state");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kBackend);
  EXPECT_FALSE(values(*session, Padded(1, 2).batch).empty());
}

TEST(Session, ContradictingOptionsAreRefused) {
  Options options;
  options.intra_op_threads = 0;
  EXPECT_EQ(Session::load(kFolder + "/encoder.onnx", options).error().where, "intra_op_threads");
  options.intra_op_threads = 2;
  options.cpus = {0};
  EXPECT_EQ(Session::load(kFolder + "/encoder.onnx", options).error().where, "cpus");
}

class BrokenFile : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-session-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    for (const char* name : {"encoder_external.onnx", "encoder_external.weights"}) {
      fs::copy_file(kFolder + "/" + name, folder_ + "/" + name);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  Error load_error() const {
    SharedWeights shared;
    const auto result = Session::load(folder_ + "/encoder_external.onnx", {}, GetParam() ? &shared : nullptr);
    EXPECT_FALSE(result.ok());
    return result.ok() ? Error() : result.error();
  }

  std::string folder_;
};

TEST_P(BrokenFile, NoGraph) {
  fs::remove(folder_ + "/encoder_external.onnx");
  EXPECT_EQ(load_error().kind, ErrorKind::kNotFound);
}

TEST_P(BrokenFile, NotAGraph) {
  std::ofstream(folder_ + "/encoder_external.onnx") << "not a graph at all";
  const Error error = load_error();
  EXPECT_EQ(error.kind, ErrorKind::kCorrupt);
  EXPECT_NE(error.message.find("encoder_external.onnx"), std::string::npos) << error.message;
}

TEST_P(BrokenFile, TruncatedGraph) {
  fs::resize_file(folder_ + "/encoder_external.onnx", 300);
  EXPECT_EQ(load_error().kind, ErrorKind::kCorrupt);
}

TEST_P(BrokenFile, NoWeights) {
  fs::remove(folder_ + "/encoder_external.weights");
  EXPECT_NE(load_error().message.find("encoder_external"), std::string::npos);
}

TEST_P(BrokenFile, TruncatedWeights) {
  fs::resize_file(folder_ + "/encoder_external.weights", 5000);
  const std::string message = load_error().message;
  EXPECT_NE(message.find(GetParam() ? "encoder_external.weights: has 5000 bytes" : "encoder_external"),
            std::string::npos)
      << message;
}

INSTANTIATE_TEST_SUITE_P(Sharing, BrokenFile, ::testing::Bool(),
                         [](const auto& sharing) { return sharing.param ? "shared" : "alone"; });

TEST(Runtime, TellsItsVersion) { EXPECT_EQ(runtime_version().find("1."), 0U); }

}  // namespace
}  // namespace weir::session
