// A model as users bring it: imported from its folder, served, and held against the vectors that sentence-transformers
// gives.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "base/file.h"
#include "bundle/manifest.h"
#include "importer/importer.h"
#include "serve/pipeline/pipeline.h"

namespace weir::serve {
namespace {

class ImportedModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_imported_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    importer::Options import;
    import.source = std::string(WEIR_TEST_DATA) + "/tiny-bert";
    import.target = folder_ + "/tiny-bert";
    import.weir_version = "0";
    const auto summary = importer::import_model(import);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    PipelineOptions options;
    options.models = {{"", import.target}};
    options.instances = 2;
    auto started = Pipeline::start(options, registry_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    pipeline_ = std::move(started).value();
    const Status loaded = pipeline_->wait_loaded();
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  }
  void TearDown() override {
    pipeline_.reset();
    std::filesystem::remove_all(folder_);
  }

  RequestPtr embed(const std::vector<std::string>& texts) {
    auto request = std::make_shared<Request>();
    for (const auto& text : texts) request->inputs.push_back({text, {}, false});
    std::promise<void> done;
    request->done = [&done](const RequestPtr&) { done.set_value(); };
    pipeline_->submit(request);
    done.get_future().wait();
    return request;
  }

  std::string folder_;
  metrics::Registry registry_;
  std::unique_ptr<Pipeline> pipeline_;
};

double largest_difference(std::span<const float> left, std::span<const float> right) {
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) largest = std::max(largest, std::fabs(double{left[i]} - right[i]));
  return largest;
}

TEST_F(ImportedModelTest, GivesTheVectorsOfSentenceTransformersAloneAndInBatches) {
  const std::string path = std::string(WEIR_TEST_DATA) + "/tiny-bert/expected.json";
  const auto view = pipeline_->find("");
  const auto json = read_file(path, std::size_t{1} << 20);
  ASSERT_TRUE(view.ok() && json.ok());
  // The file is the `texts` of a golden.json.
  const auto parsed =
      bundle::parse_golden(R"({"format_version":1,"texts":)" + *json + "}", path, (*view)->manifest.dimensions);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const std::vector<bundle::Golden>& expected = *parsed;
  std::vector<std::string> texts;
  for (int copies = 0; copies < 5; ++copies) {
    for (const auto& golden : expected) texts.push_back(golden.text);
  }
  const RequestPtr together = embed(texts);
  ASSERT_FALSE(together->error.has_value()) << together->error->message;
  const std::size_t length = together->dimensions;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& vector = expected[i % expected.size()].vector;
    ASSERT_EQ(vector.size(), length);
    const std::span row(together->vectors.data() + i * length, length);
    EXPECT_LT(largest_difference(row, vector), 1e-5) << texts[i];
    if (i >= expected.size()) continue;
    const RequestPtr alone = embed({texts[i]});
    ASSERT_FALSE(alone->error.has_value()) << alone->error->message;
    EXPECT_LT(largest_difference(row, alone->vectors), 1e-6) << texts[i];
  }
}

}  // namespace
}  // namespace weir::serve
