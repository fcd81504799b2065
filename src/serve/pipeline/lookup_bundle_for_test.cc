#include "serve/pipeline/lookup_bundle_for_test.h"

#include <cmath>
#include <limits>

#include "base/file.h"
#include "bundle/bundle.h"
#include "onnx/graph_builder.h"
#include "onnx/weights_file.h"

namespace weir::serve {
namespace {

const std::string kTokenizerPath = std::string(WEIR_TEST_DATA) + "/tiny-bert/tokenizer.json";

float table_value(std::size_t token, std::size_t column) {
  return static_cast<float>(std::sin(static_cast<double>(token * 31 + column * 7 + 1)));
}

Status write_graph(const std::string& folder, const LookupModel& model, std::size_t vocabulary, std::size_t poisoned) {
  const auto hidden = static_cast<std::int64_t>(model.hidden);
  WEIR_ASSIGN_OR_RETURN(auto weights, onnx::WeightsFile::create(folder + "/model.weights"));
  onnx::GraphBuilder graph("lookup", &weights);
  for (const char* name : {"input_ids", "attention_mask"}) {
    graph.input(name, onnx::ElementType::kInt64, {"batch", "sequence"});
  }
  std::vector<float> table(vocabulary * model.hidden);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = table_value(i / model.hidden, i % model.hidden);
  table[poisoned * model.hidden] = std::numeric_limits<float>::quiet_NaN();
  graph.weight("table", {static_cast<std::int64_t>(vocabulary), hidden}, table);
  std::string state = graph.node("Gather", {"table", "input_ids"}, "rows");
  if (model.multiplications > 0) {
    std::vector<float> identity(model.hidden * model.hidden, 0.0F);
    for (std::size_t i = 0; i < model.hidden; ++i) identity[i * model.hidden + i] = 1.0F;
    graph.weight("identity", {hidden, hidden}, identity);
  }
  for (int i = 0; i < model.multiplications; ++i) {
    state = graph.node("MatMul", {state, "identity"}, "product_" + std::to_string(i));
  }
  graph.node("Identity", {state}, "last_hidden_state");
  graph.output("last_hidden_state", onnx::ElementType::kFloat, {"batch", "sequence", hidden});
  WEIR_RETURN_IF_ERROR(weights.finish());
  return graph.save(folder + "/model.onnx");
}

bundle::Manifest manifest_of(const LookupModel& model, std::uint32_t vocabulary) {
  bundle::Manifest manifest;
  manifest.name = model.name;
  manifest.family = "onnx";
  manifest.dimensions = static_cast<std::uint32_t>(model.hidden);
  manifest.max_tokens = model.max_tokens;
  manifest.vocabulary_size = vocabulary;
  manifest.has_token_type_ids = false;
  manifest.prompts = {{"query", "query : "}};
  manifest.lineage.weir_version = "0";
  manifest.lineage.created = "2026-01-31T12:00:00Z";
  return manifest;
}

}  // namespace

LookupModel slow_lookup_model() {
  LookupModel model;
  model.name = "slow";
  model.hidden = 256;
  model.multiplications = 150;
  return model;
}

std::unique_ptr<tokenizers::Tokenizer> lookup_tokenizer() {
  return tokenizers::Tokenizer::from_file(kTokenizerPath).value();
}

std::vector<float> lookup_vector(const LookupModel& model, const tokenizers::Tokenizer& tokenizer,
                                 const std::string& text) {
  tokenizers::EncodeOptions options;
  options.max_tokens = model.max_tokens;
  const auto encoding = tokenizer.encode(text, options).value();
  std::vector<double> sum(model.hidden, 0.0);
  for (const std::int32_t id : encoding.ids) {
    for (std::size_t i = 0; i < model.hidden; ++i) sum[i] += table_value(static_cast<std::size_t>(id), i);
  }
  double squares = 0;
  for (double& value : sum) {
    value /= static_cast<double>(encoding.ids.size());
    squares += value * value;
  }
  std::vector<float> vector;
  for (const double value : sum) vector.push_back(static_cast<float>(value / std::sqrt(squares)));
  return vector;
}

Status write_lookup_bundle(const std::string& folder, const LookupModel& model) {
  const auto tokenizer = lookup_tokenizer();
  const std::uint32_t vocabulary = tokenizer->vocabulary_size();
  const auto poisoned = static_cast<std::size_t>(tokenizer->token_to_id("night").value());
  WEIR_RETURN_IF_ERROR(write_graph(folder, model, vocabulary, poisoned));
  WEIR_RETURN_IF_ERROR(bundle::write_manifest(folder, manifest_of(model, vocabulary)));
  WEIR_ASSIGN_OR_RETURN(const std::string json, read_file(kTokenizerPath, std::size_t{1} << 20));
  WEIR_RETURN_IF_ERROR(write_file(folder + "/tokenizer.json", json));

  std::vector<bundle::Golden> golden;
  for (const char* text : {"the river carries snow water", "is the gate open ?"}) {
    golden.push_back({text, lookup_vector(model, *tokenizer, text)});
    if (model.wrong_golden) golden.back().vector[0] += 0.5F;
  }
  return bundle::write_golden(folder, golden);
}

}  // namespace weir::serve
