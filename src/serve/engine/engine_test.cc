#include "serve/engine/engine.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "serve/engine/instance.h"

namespace weir::serve::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kHidden = 16;
constexpr std::int32_t kNanId = 13;
constexpr std::int32_t kUnknownId = 16;

/// A folder with one of the toy graphs under a bundle's names.
class EngineTest : public ::testing::Test {
 public:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-engine-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    bundle_.folder = pattern;
    bundle_.manifest.name = "toy";
    bundle_.manifest.dimensions = kHidden;
    bundle_.manifest.vocabulary_size = 16;
    use_graph("encoder.onnx");
    options_.max_batch_texts = 4;
    options_.max_batch_tokens = 64;
    options_.max_tokens = 16;
  }
  void TearDown() override { fs::remove_all(bundle_.folder); }

  void use_graph(const std::string& name) {
    fs::copy_file(WEIR_TEST_DATA "/onnx/" + name, bundle_.model_path(), fs::copy_options::overwrite_existing);
  }

  std::unique_ptr<Engine> load() {
    auto engine = Engine::load(options_, bundle_, registry_);
    EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().message);
    return engine.ok() ? std::move(engine).value() : nullptr;
  }

  Error load_error() {
    const auto engine = Engine::load(options_, bundle_, registry_);
    EXPECT_FALSE(engine.ok());
    return engine.ok() ? Error() : engine.error();
  }

  std::uint64_t counted(const std::string& name) { return registry_.counter(name, "", {{"model", "toy"}}).value(); }

  metrics::Registry registry_;
  bundle::Bundle bundle_;
  Options options_;
};

tokenizers::Encoding encoding(std::vector<std::int32_t> ids) {
  tokenizers::Encoding made;
  made.type_ids.assign(ids.size(), 0);
  made.ids = std::move(ids);
  return made;
}

RequestPtr request(std::vector<std::vector<std::int32_t>> texts) {
  auto made = std::make_shared<Request>();
  for (auto& ids : texts) made->encodings.push_back(encoding(std::move(ids)));
  return made;
}

Batch all_texts(const RequestPtr& request) {
  Batch batch;
  for (std::size_t i = 0; i < request->encodings.size(); ++i) batch.push_back({request, i});
  return batch;
}

/// The source of batches and the place for what became of them.
class Source {
 public:
  struct Outcome {
    Batch batch;
    std::optional<Error> error;
    std::vector<float> values;
    HiddenRows rows;
  };

  explicit Source(std::vector<Batch> batches) : batches_(batches.begin(), batches.end()) {}

  Engine::Next next() {
    return [this](Batch& batch) {
      const std::lock_guard lock(mutex_);
      if (batches_.empty()) return false;
      batch = std::move(batches_.front());
      batches_.pop_front();
      return true;
    };
  }
  Engine::Complete complete() {
    return [this](Batch&& batch, const Result<HiddenRows>& rows) {
      Outcome outcome;
      outcome.batch = std::move(batch);
      if (rows.ok()) {
        outcome.rows = *rows;
        outcome.values.assign(rows->values.begin(), rows->values.end());
      } else {
        outcome.error = rows.error();
      }
      const std::lock_guard lock(mutex_);
      outcomes.push_back(std::move(outcome));
    };
  }

  std::vector<Outcome> outcomes;

 private:
  std::mutex mutex_;
  std::deque<Batch> batches_;
};

std::vector<float> row(const HiddenRows& rows, std::span<const float> values, std::size_t index, std::size_t tokens) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(index * rows.columns * rows.hidden);
  return {at, at + static_cast<std::ptrdiff_t>(tokens * rows.hidden)};
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5F) << i;
}

TEST_F(EngineTest, PaddingDoesNotChangeAText) {
  const auto engine = load();
  const std::vector<tokenizers::Encoding> texts = {encoding({1, 2, 3, 4, 5, 6}), encoding({7}), encoding({8, 9, 10})};
  std::vector<std::vector<float>> alone;
  for (const auto& text : texts) {
    const auto rows = engine->compute({&text, 1});
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    alone.push_back(row(*rows, rows->values, 0, text.ids.size()));
  }
  const auto rows = engine->compute(texts);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->rows, 3U);
  EXPECT_EQ(rows->columns, 6U);
  EXPECT_EQ(rows->hidden, kHidden);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    expect_near(row(*rows, rows->values, i, texts[i].ids.size()), alone[i]);
  }
}

TEST_F(EngineTest, TypeIdsReachTheGraph) {
  const auto engine = load();
  auto text = encoding({1, 2, 3});
  const auto first = engine->compute({&text, 1});
  ASSERT_TRUE(first.ok());
  const std::vector<float> zero(first->values.begin(), first->values.end());
  text.type_ids = {0, 1, 1};
  const auto second = engine->compute({&text, 1});
  ASSERT_TRUE(second.ok());
  EXPECT_NE(std::vector<float>(second->values.begin(), second->values.end()), zero);
}

TEST_F(EngineTest, EveryBatchIsComputedOnceByAnyInstance) {
  options_.instances = 3;
  options_.threads_per_instance = 2;
  const auto engine = load();
  std::vector<Batch> batches;
  for (std::int32_t i = 0; i < 40; ++i) batches.push_back(all_texts(request({{i % 12, 1}, {2, i % 12, 3}})));
  Source source(std::move(batches));
  engine->start(source.next(), source.complete());
  engine->join();
  ASSERT_EQ(source.outcomes.size(), 40U);
  std::set<Request*> seen;
  for (const auto& outcome : source.outcomes) {
    ASSERT_FALSE(outcome.error);
    EXPECT_TRUE(seen.insert(outcome.batch.front().request.get()).second);
    EXPECT_EQ(outcome.batch.front().request->stage.load(), Stage::kEngine);
    EXPECT_EQ(outcome.rows.rows, 2U);
    EXPECT_EQ(outcome.rows.columns, 3U);
  }
  EXPECT_EQ(counted("weir_engine_batches_total"), 40U);
  EXPECT_EQ(counted("weir_engine_texts_total"), 80U);
  EXPECT_EQ(registry_.counter("weir_engine_tokens_total", "", {{"model", "toy"}, {"kind", "real"}}).value(), 200U);
  EXPECT_EQ(registry_.counter("weir_engine_tokens_total", "", {{"model", "toy"}, {"kind", "padding"}}).value(), 40U);
}

TEST_F(EngineTest, FinishedRequestsCostNothing) {
  const auto engine = load();
  const auto gone = request({{1, 2}, {3}});
  const auto wanted = request({{4}});
  finish(gone, Error(ErrorKind::kCancelled, "gone"));
  Batch mixed = all_texts(gone);
  mixed.push_back({wanted, 0});
  Source source({mixed, all_texts(gone)});
  engine->start(source.next(), source.complete());
  engine->join();
  ASSERT_EQ(source.outcomes.size(), 1U);
  ASSERT_EQ(source.outcomes[0].batch.size(), 1U);
  EXPECT_EQ(source.outcomes[0].batch[0].request, wanted);
  EXPECT_EQ(source.outcomes[0].rows.rows, 1U);
  EXPECT_EQ(counted("weir_engine_dropped_texts_total"), 4U);
}

TEST_F(EngineTest, AnErrorFailsItsBatchOnly) {
  const auto engine = load();
  Source source({all_texts(request({{1}, {kUnknownId}})), all_texts(request({{1}}))});
  engine->start(source.next(), source.complete());
  engine->join();
  ASSERT_EQ(source.outcomes.size(), 2U);
  ASSERT_TRUE(source.outcomes[0].error);
  EXPECT_EQ(source.outcomes[0].error->kind, ErrorKind::kBackend);
  EXPECT_EQ(source.outcomes[0].error->message.find(bundle_.folder), std::string::npos) << "names a path to clients";
  EXPECT_FALSE(source.outcomes[1].error);
  EXPECT_EQ(counted("weir_engine_failed_batches_total"), 1U);
}

TEST_F(EngineTest, NanStaysInItsRow) {
  const auto engine = load();
  const std::vector<tokenizers::Encoding> texts = {encoding({1, 2}), encoding({kNanId, 2})};
  const auto rows = engine->compute(texts);
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(std::isfinite(row(*rows, rows->values, 0, 2)[0]));
  EXPECT_TRUE(std::isnan(row(*rows, rows->values, 1, 2)[0]));
}

TEST_F(EngineTest, AGraphThatPoolsHasNoColumns) {
  use_graph("pooled.onnx");
  bundle_.manifest.has_token_type_ids = false;
  bundle_.manifest.output = bundle::Output::kTextVectors;
  bundle_.manifest.output_name = "sentence_embedding";
  const auto engine = load();
  const std::vector<tokenizers::Encoding> texts = {encoding({1, 2, 3}), encoding({4})};
  const auto rows = engine->compute(texts);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->columns, 0U);
  EXPECT_EQ(rows->values.size(), 2 * kHidden);
}

TEST_F(EngineTest, AnInstanceCanBePinned) {
  options_.instances = 2;
  options_.threads_per_instance = 2;
  options_.instance_cpus = {{0, 0}, {0, 0}};  // processor 0 is always there
  const auto text = encoding({1});
  EXPECT_TRUE(load()->compute({&text, 1}).ok());
}

TEST_F(EngineTest, WhatExceedsTheArenasBoundFailsAlone) {
  options_.arena_limit_bytes = 8 << 20;
  const auto engine = load();
  const auto small = encoding({1, 2, 3});
  const auto before = engine->compute({&small, 1});
  ASSERT_TRUE(before.ok());
  const std::vector<float> expected(before->values.begin(), before->values.end());
  const auto too_large = encoding(std::vector<std::int32_t>(200'000, 1));  // 16 floats a token, several times
  const auto failed = engine->compute({&too_large, 1});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kBackend);
  const auto large = encoding(std::vector<std::int32_t>(10'000, 1));  // more than max_batch_tokens
  EXPECT_TRUE(engine->compute({&large, 1}).ok());
  const auto after = engine->compute({&small, 1});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(std::vector<float>(after->values.begin(), after->values.end()), expected);
}

TEST_F(EngineTest, AnEngineThatNeverStartedEnds) { EXPECT_NE(load(), nullptr); }

TEST_F(EngineTest, ContradictionsOfGraphAndManifestAreRefused) {
  const struct {
    const char* what;
    void (*change)(EngineTest&);
    const char* message;
  } cases[] = {
      {"inputs", [](EngineTest& t) { t.bundle_.manifest.has_token_type_ids = false; }, "token_type_ids"},
      {"name", [](EngineTest& t) { t.bundle_.manifest.output_name = "logits"; }, "no output 'logits'"},
      {"type", [](EngineTest& t) { t.bundle_.manifest.output_name = "copied_ids"; }, "is int64"},
      {"length", [](EngineTest& t) { t.bundle_.manifest.dimensions = 8; }, "the last one 8"},
      {"rank", [](EngineTest& t) { t.bundle_.manifest.output = bundle::Output::kTextVectors; }, "2 axes"},
      {"int32", [](EngineTest& t) { t.use_graph("int32.onnx"); }, "int32"},
      {"file", [](EngineTest& t) { fs::remove(t.bundle_.model_path()); }, "model.onnx"},
  };
  for (const auto& one : cases) {
    use_graph("encoder.onnx");
    const auto manifest = bundle_.manifest;
    one.change(*this);
    EXPECT_NE(load_error().message.find(one.message), std::string::npos) << one.what << ": " << load_error().message;
    bundle_.manifest = manifest;
  }
}

TEST_F(EngineTest, ContradictingOptionsAreRefused) {
  options_.instances = 0;
  EXPECT_EQ(load_error().where, "instances");
  options_.instances = 2;
  options_.threads_per_instance = 0;
  EXPECT_EQ(load_error().where, "threads");
  options_.threads_per_instance = 1;
  options_.instance_cpus = {{0}};
  EXPECT_EQ(load_error().where, "instance_cpus");
}

TEST(BoundedShape, TakesRowsThenColumnsAway) {
  const auto shape = [](BatchShape largest, std::size_t tokens) {
    const auto made = bounded_shape(largest, tokens);
    return std::pair(made.rows, made.columns);
  };
  using Pair = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(shape({8, 100}, 800), Pair(8, 100));
  EXPECT_EQ(shape({8, 100}, 799), Pair(7, 100));
  EXPECT_EQ(shape({8, 100}, 99), Pair(1, 99));
  EXPECT_EQ(shape({8, 100}, 0), Pair(1, 1));
  EXPECT_EQ(shape({0, 0}, 50), Pair(1, 1));
  EXPECT_EQ(shape({8, 10}, 1000), Pair(8, 10));
}

}  // namespace
}  // namespace weir::serve::engine
