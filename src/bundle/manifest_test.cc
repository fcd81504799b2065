#include "bundle/manifest.h"

#include <bit>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace weir::bundle {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Manifest sample() {
  Manifest manifest;
  manifest.name = "sample \"quoted\" \xC3\xA9";
  manifest.family = "bert";
  manifest.dimensions = 4;
  manifest.max_tokens = 256;
  manifest.vocabulary_size = 100;
  manifest.pad_token_id = 3;
  manifest.has_token_type_ids = false;
  manifest.layout = Layout::kPacked;
  manifest.output = Output::kTextVectors;
  manifest.output_name = "sentence_embedding";
  manifest.token_output_name = "layer.1.output";
  manifest.pooling = Pooling::kLast;
  manifest.normalize = false;
  manifest.prompts = {{"query", "query: "}, {"passage", "line\nand\ttab\x01"}};
  manifest.default_prompt = "query";
  manifest.matryoshka_dimensions = {4, 2};
  manifest.lineage.weir_version = "0.1.0";
  manifest.lineage.created = "2026-01-31T12:00:00Z";
  manifest.lineage.sources = {{"config.json", std::string(64, 'a'), 612}};
  manifest.lineage.steps = {"import: bert, fp32"};
  return manifest;
}

/// The sample's JSON with one piece of it replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string json = manifest_json(sample());
  const auto at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

TEST(Manifest, ReadsWhatItWrote) {
  const std::string json = manifest_json(sample());
  const auto read = parse_manifest(json, "weir.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->name, sample().name);
  EXPECT_EQ(read->max_tokens, 256U);
  EXPECT_EQ(read->pad_token_id, 3U);
  EXPECT_FALSE(read->has_token_type_ids);
  EXPECT_EQ(read->layout, Layout::kPacked);
  EXPECT_EQ(read->output, Output::kTextVectors);
  EXPECT_EQ(read->output_name, "sentence_embedding");
  EXPECT_EQ(read->token_output_name, "layer.1.output");
  EXPECT_EQ(read->pooling, Pooling::kLast);
  EXPECT_FALSE(read->normalize);
  EXPECT_EQ(read->prompts, sample().prompts);
  EXPECT_EQ(read->default_prompt, "query");
  EXPECT_EQ(read->matryoshka_dimensions, sample().matryoshka_dimensions);
  EXPECT_EQ(read->lineage.sources.front().bytes, 612U);
  EXPECT_EQ(read->lineage.steps, sample().lineage.steps);
  EXPECT_EQ(manifest_json(*read), json);
}

Manifest classifier() {
  Manifest manifest = sample();
  manifest.task = Task::kClassify;
  manifest.layout = Layout::kPadded;
  manifest.token_output_name.clear();
  manifest.dimensions = 2;
  manifest.matryoshka_dimensions.clear();
  manifest.labels = {"bad \"one\"", "good"};
  manifest.score_function = ScoreFunction::kSoftmax;
  return manifest;
}

TEST(Manifest, NumbersBesideThoseOfTexts) {
  Manifest manifest = sample();
  EXPECT_EQ(manifest.token_width(), 4U);
  manifest.multi_vector_dimensions = 3;
  manifest.lexical_weights = true;
  EXPECT_TRUE(check_manifest(manifest, "weir.json").ok());
  EXPECT_EQ(manifest.width(), 4U);
  EXPECT_EQ(manifest.token_width(), 4U);  // 3 and 1, in an output of their own
  manifest.token_output_name.clear();
  manifest.output = Output::kTokenVectors;
  EXPECT_TRUE(check_manifest(manifest, "weir.json").ok());
  EXPECT_EQ(manifest.width(), 8U);
  EXPECT_EQ(manifest.token_width(), 8U);
  manifest.wordless_tokens = {0, 3};
  manifest.matryoshka_dimensions.clear();
  const auto read = parse_manifest(manifest_json(manifest), "weir.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->wordless_tokens, manifest.wordless_tokens);
  manifest = sample();
  manifest.lexical_weights = true;
  EXPECT_TRUE(contains(check_manifest(manifest, "weir.json").error().message, "output.token_name has lexical weights"));
}

TEST(Manifest, PairsInGoldenTexts) {
  const std::vector<Golden> golden = {{"a", {1}, "b"}, {"c", {2}}};
  const auto read = parse_golden(golden_json(golden), "golden.json", 1);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->front().pair, "b");
  EXPECT_FALSE(read->back().pair);
  std::string empty = golden_json(golden);
  empty.replace(empty.find("\"b\""), 3, "\"\"");
  EXPECT_TRUE(contains(parse_golden(empty, "golden.json", 1).error().message, "'texts[0].pair': must not be empty"));
}

Manifest multi_vector() {
  Manifest manifest = sample();
  manifest.task = Task::kMultiVector;
  manifest.output = Output::kTokenVectors;
  manifest.output_name = "token_heads";
  manifest.token_output_name.clear();
  manifest.matryoshka_dimensions.clear();
  manifest.normalize = true;
  manifest.prompts = {{kQueryPrompt, ""}, {kDocumentPrompt, "text: "}};
  manifest.default_prompt = kDocumentPrompt;
  LateInteraction& late = manifest.late_interaction.emplace();
  late.query_tokens = 32;
  late.document_tokens = 180;
  late.query_marker = 1;
  late.expansion_token = 5;
  late.skipped_tokens = {7, 9};
  late.length_normalized = true;
  return manifest;
}

TEST(Manifest, LateInteractionSurvives) {
  const std::string json = manifest_json(multi_vector());
  const auto read = parse_manifest(json, "weir.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_TRUE(read->late_interaction.has_value());
  EXPECT_EQ(read->late_interaction->query_marker, 1U);
  EXPECT_FALSE(read->late_interaction->document_marker.has_value());
  EXPECT_EQ(read->late_interaction->skipped_tokens, (std::vector<std::uint32_t>{7, 9}));
  EXPECT_TRUE(read->late_interaction->length_normalized);
  EXPECT_EQ(read->unattended_tokens(), 32U);
  EXPECT_EQ(manifest_json(*read), json);
  Manifest attending = multi_vector();
  attending.late_interaction->attend_to_expansion = true;
  EXPECT_EQ(attending.unattended_tokens(), 0U);
  attending.late_interaction->expansion_token.reset();
  EXPECT_EQ(attending.unattended_tokens(), 0U);
}

TEST(Manifest, LateInteractionThatContradictsTheRest) {
  const auto expect_refused = [](const std::string& json, const std::string& part) {
    const auto read = parse_manifest(json, "weir.json");
    ASSERT_FALSE(read.ok()) << part;
    EXPECT_TRUE(contains(read.error().message, part)) << read.error().message;
  };
  Manifest manifest = multi_vector();
  manifest.late_interaction.reset();
  expect_refused(manifest_json(manifest), "'late_interaction': missing");
  manifest = sample();
  manifest.late_interaction = multi_vector().late_interaction;
  expect_refused(manifest_json(manifest), "'late_interaction': is for the task multi_vector");
  manifest = multi_vector();
  manifest.late_interaction->query_marker = 100;
  expect_refused(manifest_json(manifest), "'late_interaction.query_marker': is 100; it must be below 100");
  manifest = multi_vector();
  manifest.late_interaction->document_tokens = 257;
  expect_refused(manifest_json(manifest), "'late_interaction.document_tokens': is 257; it must be below 257");
  manifest = multi_vector();
  manifest.late_interaction->query_tokens = 2;
  expect_refused(manifest_json(manifest), "'late_interaction.query_tokens': expected a whole number from 3");
  manifest = multi_vector();
  manifest.prompts.erase(kQueryPrompt);
  expect_refused(manifest_json(manifest), "'prompts': has no 'query'");
  manifest = multi_vector();
  manifest.output = Output::kTextVectors;
  expect_refused(manifest_json(manifest), "'output.kind': does not fit the task multi_vector");
  std::string json = manifest_json(multi_vector());
  json.replace(json.find("[7, 9]"), 6, "[7, -9]");
  expect_refused(json, "'late_interaction.skipped_tokens[1]': expected a token's id");
}

TEST(Manifest, LabelsAndScoreFunction) {
  const std::string json = manifest_json(classifier());
  const auto read = parse_manifest(json, "weir.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->task, Task::kClassify);
  EXPECT_EQ(read->labels, classifier().labels);
  EXPECT_EQ(read->score_function, ScoreFunction::kSoftmax);
  EXPECT_EQ(manifest_json(*read), json);
}

TEST(Manifest, TasksThatContradictTheRest) {
  const auto expect_refused = [](const Manifest& manifest, const std::string& part) {
    const Status status = check_manifest(manifest, "weir.json");
    ASSERT_FALSE(status.ok()) << part;
    EXPECT_TRUE(contains(status.error().message, part)) << status.error().message;
  };
  Manifest manifest = classifier();
  manifest.labels.pop_back();
  expect_refused(manifest, "'labels': holds 1, but dimensions is 2");
  manifest = classifier();
  manifest.task = Task::kRerank;
  expect_refused(manifest, "'dimensions': must be 1");
  manifest = classifier();
  manifest.task = Task::kEmbedding;
  expect_refused(manifest, "are not for the task embedding");
  manifest = classifier();
  manifest.task = Task::kTokenClassify;
  expect_refused(manifest, "'output.kind': does not fit the task token_classify");
  manifest = classifier();
  manifest.normalize = true;
  expect_refused(manifest, "'normalize': is for embeddings");
  const std::string json = manifest_json(classifier());
  std::string other = json;
  other.replace(other.find("softmax"), 7, "argmax");
  EXPECT_TRUE(contains(parse_manifest(other, "weir.json").error().message, "'score_function': is 'argmax'"));
}

TEST(Manifest, EmptyListsAndNoDefaultPromptSurvive) {
  Manifest manifest = sample();
  manifest.prompts.clear();
  manifest.default_prompt.reset();
  manifest.matryoshka_dimensions.clear();
  manifest.lineage.sources.clear();
  const auto read = parse_manifest(manifest_json(manifest), "weir.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read->default_prompt);
  EXPECT_EQ(manifest_json(*read), manifest_json(manifest));
}

TEST(Manifest, NotesAreSkipped) {
  const auto read = parse_manifest(with("\"family\"", "\"x_note\": {\"any\": [1]},\n  \"family\""), "weir.json");
  EXPECT_TRUE(read.ok()) << read.error().message;
}

struct Broken {
  const char* from;
  const char* to;
  const char* message;
  ErrorKind kind = ErrorKind::kCorrupt;
};

class BrokenManifest : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenManifest, IsRefusedByName) {
  const auto read = parse_manifest(with(GetParam().from, GetParam().to), "dir/weir.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, GetParam().kind);
  EXPECT_PRED2(contains, read.error().message, "dir/weir.json");
  EXPECT_PRED2(contains, read.error().message, GetParam().message);
  EXPECT_EQ(read.error().where, "dir/weir.json");
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BrokenManifest,
    ::testing::Values(
        Broken{"{", "[", "not valid JSON"}, Broken{"\xC3\xA9", "\xC3", "not valid JSON"},
        Broken{"\"format_version\": 1,", "", "'format_version': missing"},
        Broken{"\"format_version\": 1", "\"format_version\": \"1\"", "'format_version': expected a whole number"},
        Broken{"\"format_version\": 1", "\"format_version\": 0", "'format_version': expected a whole number"},
        Broken{"\"format_version\": 1", "\"format_version\": 2", "reads up to 1", ErrorKind::kUnsupported},
        Broken{"\"family\": \"bert\",", "", "'family': missing"},
        Broken{"\"bert\"", "7", "'family': expected a string, found a number"},
        Broken{"\"bert\"", "\"\"", "'family': must not be empty"},
        Broken{"\"family\"", "\"famly\"", "'family': missing"},
        Broken{"\"family\"", "\"extra\": 1, \"family\"", "unknown field 'extra'"},
        Broken{"\"family\"", "\"name\": \"b\", \"family\"", "'name': stands there twice"},
        Broken{"\"embedding\"", "\"ctr\"", "'task': is 'ctr'", ErrorKind::kUnsupported},
        Broken{"\"fp32\"", "\"fp64\"", "'precision': is 'fp64'", ErrorKind::kUnsupported},
        Broken{"\"dimensions\": 4", "\"dimensions\": 0", "'dimensions': expected a whole number from 1"},
        Broken{"\"dimensions\": 4", "\"dimensions\": -4", "found -4"},
        Broken{"\"dimensions\": 4", "\"dimensions\": 4.5", "found 4.5"},
        Broken{"\"dimensions\": 4", "\"dimensions\": 100000000000000000000", "not valid JSON"},
        Broken{"\"dimensions\": 4", "\"dimensions\": 3", "'matryoshka_dimensions': lengths must be"},
        Broken{"\"max_tokens\": 256", "\"max_tokens\": null", "'max_tokens': expected a whole number"},
        Broken{"\"max_tokens\": 256", "\"max_tokens\": 4294967297", "'max_tokens': expected a whole number"},
        Broken{"\"pad_token_id\": 3", "\"pad_token_id\": 100", "outside the vocabulary of 100"},
        Broken{"\"has_token_type_ids\": false", "\"has_token_type_ids\": 0", "expected true or false, found a number"},
        Broken{"\"packed\"", "\"ragged\"", "'layout': is 'ragged'"},
        Broken{"\"text_vectors\"", "\"token_vectors\"", "'output.token_name': is for packed embedding models"},
        Broken{"\"packed\"", "\"padded\"", "'output.token_name': is for packed embedding models"},
        Broken{"\"layer.1.output\"", "\"sentence_embedding\"", "'output.token_name': is for packed embedding models"},
        Broken{"\"kind\": \"text_vectors\"", "\"kind\": \"logits\"", "'output.kind': is 'logits'"},
        Broken{"\"kind\": \"text_vectors\",", "", "'output.kind': missing"},
        Broken{"\"sentence_embedding\"", "\"\"", "'output.name': must not be empty"},
        Broken{"\"pooling\": \"last\"", "\"pooling\": \"lasttoken\"", "'pooling': is 'lasttoken'"},
        Broken{"\"query: \"", "[]", "'prompts.query': expected a string, found an array"},
        Broken{"\"passage\": ", "\"query\": ", "'prompts.query': stands there twice"},
        Broken{"\"default_prompt\": \"query\"", "\"default_prompt\": \"qery\"", "'qery' is not one of prompts"},
        Broken{"[4, 2]", "[4, 4]", "same length twice"}, Broken{"[4, 2]", "[4, 0]", "'matryoshka_dimensions[1]'"},
        Broken{"[4, 2]", "{}", "'matryoshka_dimensions': expected an array"},
        Broken{"\"created\"", "\"creatd\"", "'lineage.created': missing"}, Broken{"aaaa", "AAAA", "sha256 is not 64"},
        Broken{"\"bytes\": 612", "\"bytes\": -1", "'lineage.sources[0].bytes': expected a whole number"},
        Broken{"\"import: bert, fp32\"", "null", "'lineage.steps[0]': expected a string, found null"}));

TEST(Manifest, EveryTruncationIsRefused) {
  const std::string json = manifest_json(sample());
  for (std::size_t length = 0; length + 1 < json.size(); ++length) {
    EXPECT_FALSE(parse_manifest(json.substr(0, length), "weir.json").ok()) << length;
  }
}

TEST(Manifest, DeepNestingIsRefused) {
  const std::string deep(100'000, '[');
  const auto read = parse_manifest(with("\"bert\"", deep), "weir.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt);
}

TEST(Manifest, AnArrayIsNoManifest) {
  const auto read = parse_manifest("[]", "weir.json");
  ASSERT_FALSE(read.ok());
  EXPECT_PRED2(contains, read.error().message, "expected an object, found an array");
}

std::vector<Golden> golden_sample() {
  const float smallest = std::bit_cast<float>(std::uint32_t{1});
  return {{"a text", {0.1F, -1.0F / 3.0F, smallest, 3.4028235e38F}}, {"\xE2\x82\xAC", {0, -0.0F, 1e-20F, 2}}};
}

TEST(GoldenTexts, EveryFloatSurvives) {
  const auto read = parse_golden(golden_json(golden_sample()), "golden.json", 4);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].text, golden_sample()[i].text);
    EXPECT_EQ((*read)[i].vector, golden_sample()[i].vector);
  }
}

TEST(GoldenTexts, BrokenOnesAreRefusedByName) {
  const struct {
    const char* json;
    const char* message;
  } cases[] = {
      {R"({"format_version": 1, "texts": []})", "'texts': is empty"},
      {R"({"format_version": 1})", "'texts': missing"},
      {R"({"texts": []})", "'format_version': missing"},
      {R"({"format_version": 1, "texts": [7]})", "'texts[0]': expected an object"},
      {R"({"format_version": 1, "texts": [{"text": "a"}]})", "'texts[0].vector': missing"},
      {R"({"format_version": 1, "texts": [{"text": "", "vector": [1, 2]}]})", "'texts[0].text': must not be empty"},
      {R"({"format_version": 1, "texts": [{"text": "a", "vector": [1]}]})", "has 1 numbers"},
      {R"({"format_version": 1, "texts": [{"text": "a", "vector": [1, 2, 3]}]})", "more than 2 elements"},
      {R"({"format_version": 1, "texts": [{"text": "a", "vector": [1, null]}]})", "'texts[0].vector[1]'"},
      {R"({"format_version": 1, "texts": [{"text": "a", "vector": [1, 1e39]}]})", "does not fit"},
  };
  for (const auto& one : cases) {
    const auto read = parse_golden(one.json, "golden.json", 2);
    ASSERT_FALSE(read.ok()) << one.json;
    EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt);
    EXPECT_PRED2(contains, read.error().message, "golden.json");
    EXPECT_PRED2(contains, read.error().message, one.message);
  }
}

}  // namespace
}  // namespace weir::bundle
