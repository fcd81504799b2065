// Packed models of every task through the whole path: the same bits alone and among others, whatever kinds of requests
// share a batch.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "serve/pipeline/packed_pipeline_for_test.h"

namespace weir::serve {
namespace {

struct Case {
  const char* name;         ///< In tests/data/tasks, or tests/data/families.
  std::vector<Task> tasks;  ///< What requests ask for.
  const char* precision;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name << ' ' << one.precision; }

class PackedTasksTest : public PackedPipeline, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    PackedPipeline::SetUp();
    const std::string data = WEIR_TEST_DATA;
    const std::string own = data + "/tasks/" + GetParam().name;
    fs::copy(fs::exists(own) ? own : data + "/families/" + GetParam().name, folder_ + "/source");
    fs::copy(data + "/families/tokenizer.json", folder_ + "/source/tokenizer.json");
    const bool is_sparse = std::string(GetParam().name) == "sparse";
    import({folder_ + "/source", GetParam().precision, false, is_sparse});
  }

  std::vector<Input> inputs(Task task) const {
    std::vector<Input> result = inputs_of(sample_texts(40));
    if (task != Task::kRerank) return result;
    for (Input& input : result) input.pair = std::exchange(input.text, "is the water high");
    return result;
  }
};

TEST_P(PackedTasksTest, NumbersHaveTheSameBitsAloneAndAmongOthers) {
  start(1);
  std::vector<std::vector<float>> vectors;
  std::vector<std::vector<float>> token_rows;
  for (const Task task : GetParam().tasks) {
    for (const Input& input : inputs(task)) {
      Sent sent = send({input}, task);
      const Request& request = answered(sent);
      vectors.push_back(request.vectors);
      token_rows.push_back(request.token_rows.empty() ? std::vector<float>() : request.token_rows.front());
      EXPECT_NE(vectors.back().empty(), token_rows.back().empty());
    }
  }
  start(3);
  std::vector<Sent> all;
  for (const Task task : GetParam().tasks) {
    for (const Input& input : inputs(task)) all.push_back(send({input}, task));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Request& request = answered(all[i]);
    EXPECT_EQ(request.vectors, vectors[i]) << i;
    if (!request.token_rows.empty()) {
      EXPECT_EQ(request.token_rows.front(), token_rows[i]) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PackedTasksTest,
    ::testing::Values(Case{"rerank", {Task::kRerank}, "int8"}, Case{"rerank", {Task::kRerank}, "fp32"},
                      Case{"multi_label", {Task::kClassify}, "int8"}, Case{"classify", {Task::kClassify}, "int8"},
                      Case{"token_classify", {Task::kTokenLabels}, "int8"}, Case{"sparse", {Task::kSparse}, "int8"},
                      Case{"sparse", {Task::kSparse}, "bf16"},
                      Case{"three_vectors", {Task::kEmbed, Task::kSparse, Task::kTokenVectors}, "int8"},
                      Case{"bert", {Task::kEmbed, Task::kTokenVectors}, "int8"}));

}  // namespace
}  // namespace weir::serve
