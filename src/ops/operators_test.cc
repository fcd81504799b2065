// tiny-bert as a packed graph, run by sessions of several thread counts: the same bits whatever lies beside a text, and
// errors instead of crashes for whatever a caller or a damaged file may hold.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/cosine.h"
#include "base/cpu_features.h"
#include "base/huge_memory.h"
#include "base/memory.h"
#include "families/family.h"
#include "huggingface/json_object.h"
#include "onnx/graph_builder.h"
#include "safetensors/checkpoint.h"
#include "session/session.h"

namespace weir::ops {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;
using Vector = std::vector<float>;

constexpr std::size_t kPositions = 64;
constexpr std::int64_t kVocabulary = 285;

Status write_packed(const std::string& source, const std::string& folder, const families::PackedForm& form) {
  WEIR_ASSIGN_OR_RETURN(const auto config, huggingface::JsonObject::read(source + "/config.json"));
  WEIR_ASSIGN_OR_RETURN(const auto architecture, families::read_architecture(config));
  WEIR_ASSIGN_OR_RETURN(const auto checkpoint, safetensors::Checkpoint::open(source));
  WEIR_ASSIGN_OR_RETURN(auto file, onnx::WeightsFile::create(folder + "/model.weights"));
  families::Weights weights(checkpoint);
  onnx::GraphBuilder graph("bert", &file);
  WEIR_RETURN_IF_ERROR(architecture.build_packed(weights, graph, form));
  WEIR_RETURN_IF_ERROR(file.finish());
  return graph.save(folder + "/model.onnx");
}

Result<std::vector<Vector>> run(session::Session& session, const Ids& ids, const Ids& types, const Ids& offsets) {
  session::Batch batch;
  batch.rows = offsets.size() - 1;
  batch.input_ids = ids;
  batch.token_type_ids = types;
  batch.offsets = offsets;
  WEIR_ASSIGN_OR_RETURN(const auto output, session.run(batch, families::kSentenceEmbedding));
  const auto hidden = static_cast<std::size_t>(output.shape().back());
  std::vector<Vector> vectors;
  for (std::size_t i = 0; i < batch.rows; ++i) {
    const auto row = output.values().subspan(i * hidden, hidden);
    vectors.emplace_back(row.begin(), row.end());
  }
  return vectors;
}

std::vector<Vector> embed(session::Session& session, const std::vector<Ids>& texts) {
  Ids ids;
  Ids offsets = {0};
  for (const Ids& text : texts) {
    ids.insert(ids.end(), text.begin(), text.end());
    offsets.push_back(static_cast<std::int64_t>(ids.size()));
  }
  auto vectors = run(session, ids, Ids(ids.size(), 0), offsets);
  EXPECT_TRUE(vectors.ok()) << vectors.error().message;
  return vectors.ok() ? std::move(vectors).value() : std::vector<Vector>(texts.size());
}

class OperatorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-ops-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write("int8");
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// The graph that the following sessions load.
  void write(const std::string& precision, const std::string& model = "tiny-bert",
             const std::string& attention = "auto") const {
    const Status written = write_packed(WEIR_TEST_DATA "/" + model, folder_, {precision, "mean", {}, attention});
    ASSERT_TRUE(written.ok()) << written.error().message;
  }

  std::string graph() const { return folder_ + "/model.onnx"; }
  std::string weights() const { return folder_ + "/model.weights"; }

  std::unique_ptr<session::Session> load(int threads, session::SharedWeights* shared = nullptr) const {
    session::Options options;
    options.intra_op_threads = threads;
    auto session = session::Session::load(graph(), options, shared);
    EXPECT_TRUE(session.ok()) << session.error().message;
    return session.ok() ? std::move(session).value() : nullptr;
  }

  /// Fails with these words, and the session goes on working.
  void expect_refused(const Ids& ids, const Ids& types, const Ids& offsets, const std::string& part) {
    for (const int threads : {1, 2}) {
      const auto session = load(threads);
      const auto vectors = run(*session, ids, types, offsets);
      ASSERT_FALSE(vectors.ok()) << "accepted, though: " << part;
      EXPECT_NE(vectors.error().message.find(part), std::string::npos) << vectors.error().message;
      EXPECT_EQ(embed(*session, {{1, 2, 3}}).size(), 1u);
    }
  }

  void expect_not_loaded(const std::string& part) const {
    session::SharedWeights shared;
    for (session::SharedWeights* mapped : {&shared, static_cast<session::SharedWeights*>(nullptr)}) {
      const auto session = session::Session::load(graph(), {}, mapped);
      ASSERT_FALSE(session.ok()) << "loaded, though: " << part;
      EXPECT_NE(session.error().message.find(part), std::string::npos) << session.error().message;
    }
  }

  /// Overwrites bytes of the weights file.
  void patch(std::size_t offset, const std::string& bytes) const {
    FILE* file = std::fopen(weights().c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    std::fseek(file, static_cast<long>(offset), SEEK_SET);
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);
  }

  /// Where the first packed layer begins in the weights file.
  std::size_t first_packed() const { return weights_bytes().find("WEIRLQ8"); }

  std::string weights_bytes() const {
    FILE* file = std::fopen(weights().c_str(), "rb");
    std::string all(fs::file_size(weights()), '\0');
    EXPECT_EQ(std::fread(all.data(), 1, all.size(), file), all.size());
    std::fclose(file);
    return all;
  }

  std::string folder_;
};

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<Ids> random_texts(std::size_t count, std::mt19937& random) {
  std::uniform_int_distribution<std::int64_t> id(0, kVocabulary - 1);
  std::vector<Ids> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Short as most traffic is, and now and then of any length.
    const std::size_t most = i % 10 == 0 ? kPositions : 20;
    texts[i].resize(std::uniform_int_distribution<std::size_t>(1, most)(random));
    for (auto& value : texts[i]) value = id(random);
  }
  return texts;
}

/// Computes the texts in an order and in batches of chance, and expects of each the vector that it has alone.
void expect_same_in_batches(session::Session& session, const std::vector<Ids>& texts, const std::vector<Vector>& alone,
                            std::mt19937& random) {
  std::vector<std::size_t> order(texts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t size = std::uniform_int_distribution<std::size_t>(1, 70)(random);
    const std::size_t end = std::min(order.size(), begin + size);
    std::vector<Ids> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(texts[order[i]]);
    const auto together = embed(session, batch);
    for (std::size_t i = begin; i < end; ++i) {
      ASSERT_TRUE(same_bits(together[i - begin], alone[order[i]])) << "text " << order[i];
    }
    begin = end;
  }
}

TEST_F(OperatorsTest, ATextHasTheSameBitsInAnyBatchAtAnyPlaceOnAnyThreads) {
  std::mt19937 random(42);
  for (const auto& [precision, count] : {std::pair{"int8", 2000}, {"bf16", 400}, {"fp32", 400}}) {
    write(precision);
    const std::vector<Ids> texts = random_texts(static_cast<std::size_t>(count), random);
    const auto narrow = load(1);
    std::vector<Vector> alone;
    for (const Ids& text : texts) alone.push_back(embed(*narrow, {text}).front());
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(std::string(precision) + ", threads " + std::to_string(threads));
      expect_same_in_batches(*load(threads), texts, alone, random);
    }
  }
}

TEST_F(OperatorsTest, TheSameHoldsForAttentionInBf16) {
  std::mt19937 random(43);
  const std::vector<Ids> texts = random_texts(200, random);
  write("int8");
  const std::vector<Vector> exact = embed(*load(1), texts);
  write("int8", "tiny-bert", "bf16");
  const auto narrow = load(1);
  std::vector<Vector> alone;
  for (const Ids& text : texts) alone.push_back(embed(*narrow, {text}).front());
  for (const int threads : {1, 3}) expect_same_in_batches(*load(threads), texts, alone, random);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_GT(cosine(alone[i], exact[i]), 0.999) << "text " << i;
}

TEST_F(OperatorsTest, PaddingTokensInATextDoNotCountAsPositions) {
  std::mt19937 random(3);
  write("fp32", "families/roberta");
  constexpr std::int64_t kPadding = 1;
  std::vector<Ids> texts = random_texts(200, random);
  for (Ids& text : texts) {
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = random() % 5 == 0 ? kPadding : 2 + text[i] % 50;
    text.resize(std::min<std::size_t>(text.size(), 24));
  }
  const auto narrow = load(1);
  std::vector<Vector> alone;
  for (const Ids& text : texts) alone.push_back(embed(*narrow, {text}).front());
  expect_same_in_batches(*load(3), texts, alone, random);
  const auto two = embed(*narrow, {{5, 6}, {5, kPadding, 6}});
  EXPECT_FALSE(same_bits(two[0], two[1]));
}

/// Models of other families, whose longest texts have 38 tokens; 1 is padding.
constexpr const char* kFamilies[] = {"albert",    "deberta-v2",        "deberta-v2-conv", "electra", "gte",
                                     "jina-bert", "jina-bert-qk-norm", "modernbert-bias", "mpnet",   "nomic_bert"};

std::vector<Ids> family_texts(std::size_t count, std::mt19937& random) {
  std::vector<Ids> texts = random_texts(count, random);
  for (Ids& text : texts) {
    for (auto& id : text) id = 2 + id % 50;
    text.resize(std::min<std::size_t>(text.size(), 38));
  }
  return texts;
}

TEST_F(OperatorsTest, TheSameHoldsForEveryFamily) {
  std::mt19937 random(5);
  const std::vector<Ids> texts = family_texts(120, random);
  for (const char* family : kFamilies) {
    for (const char* precision : {"fp32", "bf16", "int8"}) {
      SCOPED_TRACE(std::string(family) + ", " + precision);
      write(precision, std::string("families/") + family);
      const auto narrow = load(1);
      std::vector<Vector> alone;
      for (const Ids& text : texts) alone.push_back(embed(*narrow, {text}).front());
      expect_same_in_batches(*load(3), texts, alone, random);
    }
  }
}

TEST_F(OperatorsTest, EveryInstructionSetGivesTheSameBits) {
  std::mt19937 random(6);
  const std::vector<Ids> texts = family_texts(20, random);
  const char* given = std::getenv("WEIR_ISA");
  for (const char* family : kFamilies) {
    for (const char* precision : {"fp32", "int8"}) {
      write(precision, std::string("families/") + family);
      const auto expected = embed(*load(2), texts);
      for (const char* isa : {"scalar", "avx2"}) {
        if (!cpu::restrict_features(isa, cpu::detected()).ok()) continue;
        ASSERT_EQ(setenv("WEIR_ISA", isa, 1), 0);
        const auto vectors = embed(*load(2), texts);
        ASSERT_EQ(given == nullptr ? unsetenv("WEIR_ISA") : setenv("WEIR_ISA", given, 1), 0);
        for (std::size_t i = 0; i < texts.size(); ++i) {
          ASSERT_TRUE(same_bits(vectors[i], expected[i])) << family << ' ' << precision << ' ' << isa << " text " << i;
        }
      }
    }
  }
}

TEST_F(OperatorsTest, PrecisionsAgree) {
  std::mt19937 random(7);
  const std::vector<Ids> texts = random_texts(50, random);
  write("fp32");
  const auto exact = embed(*load(1), texts);
  for (const auto& [precision, least] : {std::pair{"bf16", 0.9999}, {"int8", 0.99}}) {
    write(precision);
    const auto vectors = embed(*load(2), texts);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_GT(cosine(vectors[i], exact[i]), least) << precision << ", text " << i;
      EXPECT_FALSE(same_bits(vectors[i], exact[i])) << precision << " is really another precision";
    }
  }
}

TEST_F(OperatorsTest, MappedWeightsGiveTheSameBits) {
  session::SharedWeights shared;
  const auto mapped = load(1, &shared);
  const auto again = load(2, &shared);
  const auto read = load(1);
  const std::vector<Ids> texts = {{5, 9, 200, 31}, {7}};
  const auto vectors = embed(*read, texts);
  EXPECT_TRUE(same_bits(embed(*mapped, texts)[0], vectors[0]));
  EXPECT_TRUE(same_bits(embed(*again, texts)[1], vectors[1]));
}

TEST_F(OperatorsTest, WeightsInHugePagesGiveTheSameBits) {
  const std::string kernel_has = read_memory().transparent_huge_pages;
  const bool has_huge_pages = kernel_has == "always" || kernel_has == "madvise";
  for (const char* model : {"tiny-bert", "families/albert"}) {
    write("int8", model);
    const std::vector<Ids> texts = {{5, 9, 20, 31}, {7}};
    const auto expected = embed(*load(1), texts);
    session::SharedWeights shared(true);
    const auto narrow = load(1, &shared);
    const auto wide = load(2, &shared);
    EXPECT_EQ(shared.huge_page_bytes(), has_huge_pages ? HugeMemory::kPageBytes : 0) << model;
    EXPECT_TRUE(same_bits(embed(*narrow, texts)[0], expected[0])) << model;
    EXPECT_TRUE(same_bits(embed(*wide, texts)[1], expected[1])) << model;
  }
}

TEST_F(OperatorsTest, OfTruncatedWeightsNothingIsCopied) {
  fs::resize_file(weights(), fs::file_size(weights()) - 64);
  session::SharedWeights shared(true);
  const auto session = session::Session::load(graph(), {}, &shared);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(shared.huge_page_bytes(), 0u);
}

TEST_F(OperatorsTest, TheLongestTextFitsAndOneMoreTokenDoesNot) {
  const auto session = load(2);
  EXPECT_EQ(embed(*session, {Ids(kPositions, 3)}).size(), 1u);
  expect_refused(Ids(65, 3), Ids(65, 0), {0, 65}, "a text has 65 tokens; the model has positions for 64");
}

TEST_F(OperatorsTest, LayersThatShareWeightsStoreThemOnce) {
  write("int8", "families/albert");
  const std::string bytes = weights_bytes();
  std::size_t layers = 0;
  for (std::size_t at = bytes.find("WEIRLQ8"); at != std::string::npos; at = bytes.find("WEIRLQ8", at + 1)) ++layers;
  EXPECT_EQ(layers, 2u * 4u + 1u) << "three layers of two groups, and the projection of the embeddings";
}

TEST_F(OperatorsTest, RotaryPositionsEndToo) {
  write("int8", "families/modernbert");
  expect_refused(Ids(41, 3), Ids(41, 0), {0, 41}, "a text has 41 tokens; the model has positions for 40");
}

TEST_F(OperatorsTest, SegmentsCount) {
  const auto session = load(1);
  const auto first = run(*session, {1, 2}, {0, 0}, {0, 2});
  const auto second = run(*session, {1, 2}, {0, 1}, {0, 2});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(same_bits(first->front(), second->front()));
}

TEST_F(OperatorsTest, NoTextsGiveNoVectors) {
  const auto vectors = run(*load(2), {}, {}, {0});
  EXPECT_TRUE(!vectors.ok() || vectors->empty());
}

TEST_F(OperatorsTest, RefusesBadOffsets) {
  const Ids ids = {1, 2, 3, 4};
  const Ids types(4, 0);
  expect_refused(ids, types, {0, 3, 2, 4}, "does not ascend: 2 follows 3 at text 1");
  expect_refused(ids, types, {0, 2, 2, 4}, "each text has at least one token");
  expect_refused(ids, types, {1, 4}, "begins with 1 instead of 0");
  expect_refused(ids, types, {0, 3}, "ends with 3; there are 4 tokens");
  expect_refused(ids, types, {0, 900000000000, 4}, "does not ascend");
  expect_refused(ids, types, {0, -3, 4}, "does not ascend");
}

TEST_F(OperatorsTest, RefusesIdsOutOfRange) {
  expect_refused({1, kVocabulary}, {0, 0}, {0, 2}, "input 'input_ids' holds 285 at token 1");
  expect_refused({-1, 1}, {0, 0}, {0, 2}, "input 'input_ids' holds -1 at token 0");
  expect_refused({1, std::int64_t{1} << 40}, {0, 0}, {0, 2}, "holds 1099511627776");
  expect_refused({1, 1}, {0, 2}, {0, 2}, "input 'token_type_ids' holds 2 at token 1; it must be from 0 to 1");
}

TEST_F(OperatorsTest, NanInWeightsIsPassedOnAndDoesNotCrash) {
  const std::size_t layer = first_packed();
  // The first scale: behind header, values (96 channels of 64 padded inputs) and corrections.
  const float nan = std::nanf("");
  patch(layer + 64 + 96 * 64 + 96 * 4, std::string(reinterpret_cast<const char*>(&nan), sizeof nan));
  const Vector vector = embed(*load(2), {{1, 2, 3}}).front();
  EXPECT_TRUE(std::any_of(vector.begin(), vector.end(), [](float value) { return std::isnan(value); }));
}

TEST_F(OperatorsTest, RefusesADamagedLayer) {
  patch(first_packed(), "X");
  expect_not_loaded("do not begin with WEIRLQ8");
}

TEST_F(OperatorsTest, RefusesAnotherLayoutVersion) {
  patch(first_packed() + 8, std::string(1, '\1'));
  expect_not_loaded("layout version 1; this weir reads version 2");
}

TEST_F(OperatorsTest, RefusesATruncatedFile) {
  fs::resize_file(weights(), fs::file_size(weights()) / 2);
  EXPECT_FALSE(session::Session::load(graph(), {}).ok());
  session::SharedWeights shared;
  EXPECT_FALSE(session::Session::load(graph(), {}, &shared).ok());
}

/// One operator with these attributes, its inputs the graph's or absent.
Status load_node(const std::string& folder, const std::string& op, const onnx::Attributes& attributes) {
  WEIR_ASSIGN_OR_RETURN(auto file, onnx::WeightsFile::create(folder + "/node.weights"));
  onnx::GraphBuilder graph("node", &file);
  graph.input("hidden", onnx::ElementType::kFloat, {"tokens", 96});
  graph.input("offsets", onnx::ElementType::kInt64, {"boundaries"});
  graph.weir_node(op, {"hidden", "offsets"}, {"out"}, attributes);
  graph.output("out", onnx::ElementType::kFloat, {"tokens", "columns"});
  WEIR_RETURN_IF_ERROR(file.finish());
  WEIR_RETURN_IF_ERROR(graph.save(folder + "/node.onnx"));
  const auto session = session::Session::load(folder + "/node.onnx", {});
  if (!session.ok()) return session.error();
  return {};
}

TEST_F(OperatorsTest, AttributesAreChecked) {
  const auto expect_error = [&](const std::string& op, const onnx::Attributes& attributes, const std::string& part) {
    const Status status = load_node(folder_, op, attributes);
    ASSERT_FALSE(status.ok()) << part;
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  };
  const std::string mean = "mean";
  EXPECT_TRUE(load_node(folder_, "PackedPooling", {{"pooling", mean}, {"normalize", std::int64_t{1}}}).ok());
  expect_error("PackedPooling", {{"pooling", std::string("sum")}, {"normalize", std::int64_t{0}}}, "'sum'");
  expect_error("PackedPooling", {{"pooling", mean}}, "attribute 'normalize' is missing");
  expect_error("PackedPooling", {{"pooling", mean}, {"normalize", std::int64_t{2}}}, "'normalize' is 2");
  const std::string fp32 = "fp32";
  EXPECT_TRUE(load_node(folder_, "PackedNeighbors", {{"width", std::int64_t{3}}, {"rows", fp32}}).ok());
  expect_error("PackedNeighbors", {{"width", std::int64_t{2}}, {"rows", fp32}}, "'width' is 2; it must be odd");
  expect_error("PackedNeighbors", {{"width", std::int64_t{0}}, {"rows", fp32}}, "'width' is 0");
  const std::pair<std::string, onnx::AttributeValue> rows = {"rows", fp32};
  const onnx::Attributes whole = {{"heads", std::int64_t{4}}, {"scale", 1.0f}, {"precision", fp32}, rows};
  EXPECT_TRUE(load_node(folder_, "PackedAttention", whole).ok());
  expect_error("PackedAttention", {{"heads", std::int64_t{0}}, {"scale", 1.0f}, {"precision", fp32}, rows},
               "'heads' is 0");
  onnx::Attributes sized = whole;
  sized.emplace_back("head_size", std::int64_t{0});
  expect_error("PackedAttention", sized, "'head_size' is 0");
  expect_error("PackedAttention", {{"heads", std::int64_t{4}}, {"precision", fp32}, rows},
               "attribute 'scale' is missing");
  expect_error("PackedAttention",
               {{"heads", std::int64_t{4}}, {"scale", 1.0f}, {"precision", std::string("fp64")}, rows}, "'fp64'");
  expect_error("PackedAttention",
               {{"heads", std::int64_t{4}}, {"scale", 1.0f}, {"precision", fp32}, {"rows", std::string("int4")}},
               "'int4'; it must be one of fp32, bf16, int8");
}

}  // namespace
}  // namespace weir::ops
