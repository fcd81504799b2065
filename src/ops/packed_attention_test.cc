// What families add to attention, as inputs of a node: right where they fit, and errors where they do not.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "onnx/graph_builder.h"
#include "session/session.h"

namespace weir::ops {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<float>;

constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kHeadSize = 4;
constexpr std::int64_t kColumns = 3 * kHeads * kHeadSize;
constexpr std::int64_t kWords = 8;

struct Input {
  std::vector<std::int64_t> shape;
  Values values;
};
Input filled(std::vector<std::int64_t> shape, float value) {
  std::int64_t size = 1;
  for (const std::int64_t each : shape) size *= each;
  return {std::move(shape), Values(static_cast<std::size_t>(size), value)};
}

/// Optional inputs of the node under test; a shape without sizes: the input is left out.
struct Options {
  Input relative_bias, alibi_slopes, rotary_cos, rotary_sin;
  std::vector<std::int64_t> window;
  bool bf16 = false;           ///< Queries, keys and values.
  std::int64_t head_size = 0;  ///< 0: the attribute is left out.
  Input position_keys, position_queries;
  std::vector<std::int64_t> position_buckets;
  std::vector<std::int64_t> keys;  ///< Not a constant: an input of the graph.
};

class PackedAttentionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-attention-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Words with queries and keys of their own, attended, and the mean of what comes out.
  Status write(const Options& options) const {
    WEIR_ASSIGN_OR_RETURN(auto file, onnx::WeightsFile::create(folder_ + "/model.weights"));
    onnx::GraphBuilder graph("attention", &file);
    graph.input("input_ids", onnx::ElementType::kInt64, {"tokens"});
    graph.input("offsets", onnx::ElementType::kInt64, {"boundaries"});
    Values words;
    for (std::int64_t i = 0; i < kWords * kColumns; ++i) words.push_back(std::sin(static_cast<float>(i * i)));
    graph.weight("words", {kWords, kColumns}, words);
    graph.weight("gamma", {kColumns}, Values(kColumns, 1.0f));
    graph.weight("beta", {kColumns}, Values(kColumns, 0.0f));
    const std::string fp32 = "fp32";
    graph.weir_node("PackedEmbedding", {"input_ids", "", "offsets", "words", "", "", "gamma", "beta"},
                    {"qkv", "", "", options.bf16 ? "qkv.rows" : ""},
                    {{"epsilon", 1e-5f},
                     {"first_position", std::int64_t{0}},
                     {"padding_id", std::int64_t{-1}},
                     {"rows", options.bf16 ? std::string("bf16") : fp32}});
    std::vector<std::string> inputs = {options.bf16 ? "qkv.rows" : "qkv", "offsets"};
    const auto add = [&](const std::string& name, const Input& input) {
      if (!input.shape.empty()) graph.weight(name, input.shape, input.values);
      inputs.push_back(input.shape.empty() ? "" : name);
    };
    add("relative_bias", options.relative_bias);
    add("alibi_slopes", options.alibi_slopes);
    add("rotary_cos", options.rotary_cos);
    add("rotary_sin", options.rotary_sin);
    const auto add_integers = [&](const std::string& name, const std::vector<std::int64_t>& values) {
      if (!values.empty()) graph.int64_constant(name, {static_cast<std::int64_t>(values.size())}, values);
      inputs.push_back(values.empty() ? "" : name);
    };
    add_integers("window", options.window);
    add("position_keys", options.position_keys);
    add("position_queries", options.position_queries);
    add_integers("position_buckets", options.position_buckets);
    if (!options.keys.empty()) {
      graph.input("keys", onnx::ElementType::kInt64, {"keys"});
      inputs.emplace_back("keys");
    }
    while (inputs.back().empty()) inputs.pop_back();
    onnx::Attributes attributes = {{"heads", kHeads}, {"scale", 0.5f}, {"precision", fp32}, {"rows", fp32}};
    if (options.head_size != 0) attributes.emplace_back("head_size", options.head_size);
    graph.weir_node("PackedAttention", inputs, {"context"}, attributes);
    graph.weir_node("PackedPooling", {"context", "offsets"}, {"out"},
                    {{"pooling", std::string("mean")}, {"normalize", std::int64_t{0}}});
    graph.output("out", onnx::ElementType::kFloat, {"texts", kHeads * kHeadSize});
    WEIR_RETURN_IF_ERROR(file.finish());
    return graph.save(folder_ + "/model.onnx");
  }

  Result<Values> run(const Options& options) const {
    WEIR_RETURN_IF_ERROR(write(options));
    WEIR_ASSIGN_OR_RETURN(const auto session, session::Session::load(folder_ + "/model.onnx", {}));
    const std::vector<std::int64_t> ids = {1, 5, 2, 7, 3};
    const std::vector<std::int64_t> offsets = {0, 5};
    session::Batch batch;
    batch.rows = 1;
    batch.input_ids = ids;
    batch.offsets = offsets;
    batch.keys = options.keys;
    WEIR_ASSIGN_OR_RETURN(const auto output, session->run(batch, "out"));
    return Values(output.values().begin(), output.values().end());
  }

  Values vector(const Options& options) const {
    auto result = run(options);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? std::move(result).value() : Values();
  }

  void expect_refused(const Options& options, const std::string& part) const {
    const auto result = run(options);
    ASSERT_FALSE(result.ok()) << "accepted, though: " << part;
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  }

  std::string folder_;
};

Options with(Input Options::*member, Input input) {
  Options options;
  options.*member = std::move(input);
  return options;
}

Options rotated(Input cosines, Input sines) {
  Options options;
  options.rotary_cos = std::move(cosines);
  options.rotary_sin = std::move(sines);
  return options;
}

Options sized(bool bf16, std::int64_t head_size) {
  Options options;
  options.bf16 = bf16;
  options.head_size = head_size;
  return options;
}

Options attending(std::vector<std::int64_t> keys) {
  Options options;
  options.keys = std::move(keys);
  return options;
}

Options windowed(std::vector<std::int64_t> window) {
  Options options;
  options.window = std::move(window);
  return options;
}

constexpr std::int64_t kHidden = kHeads * kHeadSize;

Options positioned(Input keys, Input queries, std::vector<std::int64_t> buckets) {
  Options options;
  options.position_keys = std::move(keys);
  options.position_queries = std::move(queries);
  options.position_buckets = std::move(buckets);
  return options;
}

TEST_F(PackedAttentionTest, WhatAddsNothingChangesNothing) {
  const Values plain = vector({});
  ASSERT_EQ(plain.size(), static_cast<std::size_t>(kHeads * kHeadSize));
  EXPECT_EQ(vector(with(&Options::relative_bias, filled({kHeads, 3}, 0))), plain);
  EXPECT_EQ(vector(with(&Options::alibi_slopes, filled({kHeads}, 0))), plain);
  EXPECT_EQ(vector(rotated(filled({5, 2}, 1), filled({5, 2}, 0))), plain) << "by no angle";
  EXPECT_EQ(vector(windowed({5})), plain) << "as wide as the text";
  const std::vector<std::int64_t> buckets = {0, 0, 1, 2, 3, 4, 5, 5, 15};
  EXPECT_EQ(vector(positioned(filled({kHidden, 16}, 0), {}, buckets)), plain);
  EXPECT_EQ(vector(positioned({}, filled({kHidden, 16}, 0), buckets)), plain);
  EXPECT_EQ(vector(with(&Options::relative_bias, filled({kHeads, 1}, 0))), plain) << "a reach of nothing";
}

TEST_F(PackedAttentionTest, EachOptionCounts) {
  const Values plain = vector({});
  EXPECT_NE(vector(with(&Options::relative_bias, {{kHeads, 3}, {0, 1, 2, 0, 1, 2}})), plain);
  EXPECT_NE(vector(with(&Options::alibi_slopes, filled({kHeads}, 0.5f))), plain);
  EXPECT_NE(vector(rotated(filled({5, 2}, 0), filled({5, 2}, 1))), Values());
  EXPECT_NE(vector(windowed({1})), plain);
  const std::vector<std::int64_t> buckets = {0, 0, 1, 2, 3, 4, 5, 5, 15};
  Input table = filled({kHidden, 16}, 0);
  for (std::size_t i = 0; i < table.values.size(); i += 3) table.values[i] = 1;
  const Values by_keys = vector(positioned(table, {}, buckets));
  const Values by_queries = vector(positioned({}, table, buckets));
  EXPECT_NE(by_keys, plain);
  EXPECT_NE(by_queries, plain);
  EXPECT_NE(by_queries, by_keys);
}

TEST_F(PackedAttentionTest, QueriesKeysAndValuesMayBeInBf16) {
  const Values plain = vector({});
  EXPECT_EQ(vector(sized(false, kHeadSize)), plain);
  const Values narrow = vector(sized(true, kHeadSize));
  ASSERT_EQ(narrow.size(), plain.size());
  EXPECT_NE(narrow, plain);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(narrow[i], plain[i], 0.02f) << i;
  expect_refused(sized(true, 0), "which needs the attribute 'head_size'");
  expect_refused(sized(true, 400), "columns, which are not three equal parts of 2 heads of 400");
  expect_refused(sized(false, kHeadSize + 1), "has 24 columns, which are not three equal parts of 2 heads of 5");
}

TEST_F(PackedAttentionTest, WrongShapesAreRefused) {
  expect_refused(with(&Options::relative_bias, filled({kHeads, 4}, 0)), "input 'relative_bias' has 2 rows of 4");
  expect_refused(with(&Options::relative_bias, filled({3, 5}, 0)), "input 'relative_bias' has 3 rows of 5");
  expect_refused(with(&Options::alibi_slopes, filled({3}, 0)), "input 'alibi_slopes' has 3 elements instead of 2");
  expect_refused(with(&Options::rotary_cos, filled({5, 2}, 0)), "input 'rotary_sin' is missing");
  expect_refused(with(&Options::rotary_sin, filled({5, 2}, 0)), "input 'rotary_cos' is missing");
  expect_refused(rotated(filled({5, 3}, 0), filled({5, 3}, 0)), "input 'rotary_cos' has 3 columns instead of 2");
  expect_refused(rotated(filled({5, 2}, 0), filled({6, 2}, 0)), "input 'rotary_sin' has 6 rows instead of 5");
  expect_refused(rotated(filled({4, 2}, 0), filled({4, 2}, 0)), "a text has 5 tokens; the model has positions for 4");
  expect_refused(windowed({0}), "input 'window' is 0; it must be at least 1");
  expect_refused(windowed({-3}), "input 'window' is -3");
  expect_refused(windowed({1, 2}), "input 'window' has 2 elements instead of 1");
}

TEST_F(PackedAttentionTest, OnlySoManyTokensAreAttendedTo) {
  const Values all = vector(attending({5}));
  EXPECT_EQ(all, vector({}));
  EXPECT_NE(vector(attending({2})), all);
  Options in_window = windowed({2});
  in_window.keys = {3};
  EXPECT_EQ(vector(in_window).size(), all.size());
}

TEST_F(PackedAttentionTest, WrongKeysAreRefused) {
  expect_refused(attending({0}), "input 'keys' is 0 at text 0 of 5 tokens; it must be from 1 to 5");
  expect_refused(attending({-1}), "input 'keys' is -1 at text 0");
  expect_refused(attending({6}), "input 'keys' is 6 at text 0");
  Options in_window = windowed({2});
  in_window.keys = {2};
  expect_refused(in_window, "input 'keys' is 2 at text 0 of 5 tokens; it must be from 3 to 5");
}

TEST_F(PackedAttentionTest, WrongTablesOfPositionsAreRefused) {
  const std::vector<std::int64_t> nine(9, 3);
  const Input table = filled({kHidden, 16}, 0);
  expect_refused(positioned(filled({kHidden, 12}, 0), {}, nine), "input 'position_keys' has 8 rows of 12");
  expect_refused(positioned(filled({4, 16}, 0), {}, nine), "input 'position_keys' has 4 rows of 16");
  expect_refused(positioned(table, filled({kHidden, 32}, 0), nine), "the same in both tables");
  expect_refused(positioned(table, {}, {}), "input 'position_buckets' is missing");
  expect_refused(positioned(table, {}, std::vector<std::int64_t>(8, 3)), "must have an odd number of elements");
  expect_refused(positioned(table, {}, std::vector<std::int64_t>(7, 3)), "the model has positions for 4");
  expect_refused(positioned(table, {}, {0, 0, 1, 2, 3, 4, 5, 5, 16}), "holds 16 at 8; it must not descend, and stay");
  expect_refused(positioned(table, {}, {-1, 0, 1, 2, 3, 4, 5, 5, 6}), "holds -1 at 0");
  expect_refused(positioned(table, {}, {0, 0, 1, 2, 1, 4, 5, 5, 6}), "holds 1 at 4");
}

}  // namespace
}  // namespace weir::ops
