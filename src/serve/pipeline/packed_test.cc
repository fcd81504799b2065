// A packed model through the whole path: texts of any lengths in one batch, several callers on one session, a lone text
// on all threads, and always the same bits.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "serve/pipeline/packed_pipeline_for_test.h"

namespace weir::serve {
namespace {

class PackedPipelineTest : public PackedPipeline {
 protected:
  void SetUp() override {
    PackedPipeline::SetUp();
    import({WEIR_TEST_DATA "/tiny-bert"});
  }
};

TEST_F(PackedPipelineTest, TextsHaveTheSameBitsAloneAndAmongOthers) {
  const std::vector<std::string> texts = sample_texts(120);
  start(1);
  std::vector<std::vector<float>> alone;
  for (const std::string& text : texts) {
    Sent sent = send({input_of(text)});
    alone.push_back(vectors(sent));
  }
  start(3);
  std::vector<Sent> all;
  for (const std::string& text : texts) all.push_back(send({input_of(text)}));
  Sent together = send(inputs_of(texts));
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(vectors(all[i]), alone[i]) << i;
  const std::vector<float> matrix = vectors(together);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto row = matrix.begin() + static_cast<std::ptrdiff_t>(i * 32);
    EXPECT_EQ(std::vector<float>(row, row + 32), alone[i]) << i;
  }
  Sent wide = send({input_of(texts.front())});
  EXPECT_EQ(vectors(wide), alone.front());
}

TEST_F(PackedPipelineTest, NothingIsPadded) {
  start(2);
  Sent sent = send(inputs_of(sample_texts(40)));
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
