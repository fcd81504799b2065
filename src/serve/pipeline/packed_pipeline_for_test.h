// A packed model of a folder made for the test, imported and behind a pipeline.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "serve/pipeline/pipeline.h"

namespace weir::serve {

namespace fs = std::filesystem;

class PackedPipeline : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir_packed_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    pipeline_.reset();
    fs::remove_all(folder_);
  }

  struct Source {
    std::string folder;
    std::string precision = "int8";
    bool says_all = true;  ///< Else pooling, normalization and the longest text are given.
    bool is_sparse = false;
  };
  void import(const Source& source);

  void start(int callers) {
    PipelineOptions options;
    options.models = {{"", folder_ + "/bundle"}};
    options.packed_callers = callers;
    pipeline_.reset();
    registry_ = std::make_unique<metrics::Registry>();
    auto started = Pipeline::start(options, *registry_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    pipeline_ = std::move(started).value();
    const Status loaded = pipeline_->wait_loaded();
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  }

  struct Sent {
    RequestPtr request;
    std::future<void> finished;
  };
  Sent send(std::vector<Input> inputs, Task task = Task::kEmbed) {
    Sent sent{std::make_shared<Request>(), {}};
    sent.request->task = task;
    sent.request->inputs = std::move(inputs);
    auto promise = std::make_shared<std::promise<void>>();
    sent.finished = promise->get_future();
    sent.request->done = [promise](const RequestPtr&) { promise->set_value(); };
    pipeline_->submit(sent.request);
    return sent;
  }
  /// Its request, answered.
  static const Request& answered(Sent& sent) {
    sent.finished.wait();
    EXPECT_FALSE(sent.request->error.has_value()) << sent.request->error->message;
    return *sent.request;
  }
  static std::vector<float> vectors(Sent& sent) { return answered(sent).vectors; }

  std::string folder_;
  std::unique_ptr<metrics::Registry> registry_;
  std::unique_ptr<Pipeline> pipeline_;
};

inline std::vector<std::string> sample_texts(std::size_t count) {
  const std::vector<std::string> words = {"the", "river", "carries", "snow", "water", "in", "spring", "gate", "open"};
  std::mt19937 random(3);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t n = 1 + random() % (i % 5 == 0 ? 60 : 12); n > 0; --n)
      text += words[random() % words.size()] + " ";
    texts.push_back(text);
  }
  return texts;
}

inline Input input_of(const std::string& text) { return {text, {}, false}; }

inline std::vector<Input> inputs_of(const std::vector<std::string>& texts) {
  std::vector<Input> inputs;
  for (const std::string& text : texts) inputs.push_back(input_of(text));
  return inputs;
}

}  // namespace weir::serve
