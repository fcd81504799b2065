// A packed model through the whole path: texts of any lengths in one batch, several callers on one session, a lone text
// on all threads, and always the same bits.
#include <filesystem>
#include <future>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "importer/importer.h"
#include "serve/pipeline/pipeline.h"

namespace weir::serve {
namespace {

namespace fs = std::filesystem;

class PackedPipelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir_packed_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    importer::Options options;
    options.source = WEIR_TEST_DATA "/tiny-bert";
    options.target = folder_ + "/bundle";
    options.precision = "int8";
    options.weir_version = "0";
    const auto summary = importer::import_model(options);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
  }
  void TearDown() override {
    pipeline_.reset();
    fs::remove_all(folder_);
  }

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
  Sent send(const std::vector<std::string>& texts) {
    Sent sent{std::make_shared<Request>(), {}};
    for (const auto& text : texts) sent.request->inputs.push_back({text, {}, false});
    auto promise = std::make_shared<std::promise<void>>();
    sent.finished = promise->get_future();
    sent.request->done = [promise](const RequestPtr&) { promise->set_value(); };
    pipeline_->submit(sent.request);
    return sent;
  }
  static std::vector<float> vectors(Sent& sent) {
    sent.finished.wait();
    EXPECT_FALSE(sent.request->error.has_value()) << sent.request->error->message;
    return sent.request->vectors;
  }

  std::string folder_;
  std::unique_ptr<metrics::Registry> registry_;
  std::unique_ptr<Pipeline> pipeline_;
};

std::vector<std::string> sample_texts(std::size_t count) {
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

TEST_F(PackedPipelineTest, TextsHaveTheSameBitsAloneAndAmongOthers) {
  const std::vector<std::string> texts = sample_texts(120);
  start(1);
  std::vector<std::vector<float>> alone;
  for (const std::string& text : texts) {
    Sent sent = send({text});
    alone.push_back(vectors(sent));
  }
  start(3);
  std::vector<Sent> all;
  for (const std::string& text : texts) all.push_back(send({text}));
  Sent together = send(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(vectors(all[i]), alone[i]) << i;
  const std::vector<float> matrix = vectors(together);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto row = matrix.begin() + static_cast<std::ptrdiff_t>(i * 32);
    EXPECT_EQ(std::vector<float>(row, row + 32), alone[i]) << i;
  }
  Sent wide = send({texts.front()});
  EXPECT_EQ(vectors(wide), alone.front());
}

TEST_F(PackedPipelineTest, NothingIsPadded) {
  start(2);
  Sent sent = send(sample_texts(40));
  vectors(sent);
  const auto tokens = [&](const char* kind) {
    return registry_->counter("weir_engine_tokens_total", "", {{"model", "bundle"}, {"kind", kind}}).value();
  };
  EXPECT_EQ(tokens("real"), sent.request->tokens);
  EXPECT_EQ(tokens("padding"), 0u);
}

TEST_F(PackedPipelineTest, ADamagedWeightsFileIsRefusedByName) {
  fs::resize_file(folder_ + "/bundle/model.weights", 100000);
  PipelineOptions options;
  options.models = {{"", folder_ + "/bundle"}};
  metrics::Registry registry;
  auto started = Pipeline::start(options, registry);
  ASSERT_TRUE(started.ok()) << started.error().message;
  const Status loaded = (*started)->wait_loaded();
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("model."), std::string::npos) << loaded.error().message;
}

}  // namespace
}  // namespace weir::serve
