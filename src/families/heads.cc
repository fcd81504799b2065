#include "families/heads.h"

#include <vector>

#include "families/activation.h"
#include "families/padded.h"

namespace weir::families {
namespace {

using onnx::ElementType;

std::string add_steps(const std::vector<HeadStep>& steps, std::string rows, ModelGraph& model) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string name = "head." + std::to_string(i);
    rows = model.linear(steps[i].dense, rows, name + ".dense");
    rows = add_activation(model.graph(), steps[i].activation, rows, name + ".active");
    if (steps[i].norm) rows = model.layer_norm(*steps[i].norm, rows, name + ".normalized");
  }
  return rows;
}

/// [batch, hidden]: each text's first token, or the mean of its tokens.
std::string text_rows(const Encoder& encoder, bool reads_mean, const std::string& hidden, ModelGraph& model) {
  onnx::GraphBuilder& graph = model.graph();
  const std::string tokens = add_batch_axis(model, hidden, encoder.facts.hidden_size, "head.tokens");
  const std::int64_t first = 0;
  if (!reads_mean) {
    return graph.node("Gather", {tokens, graph.int64_constant("head.first", {}, {&first, 1})}, "head.input",
                      {{"axis", std::int64_t{1}}});
  }
  const std::string second_axis = model.integers("axis.second", {1});
  const std::string mask = graph.node("Unsqueeze", {"mask.float", model.integers("axis.third", {2})}, "head.mask");
  const std::string kept = graph.node("Mul", {tokens, mask}, "head.kept");
  const onnx::Attributes flat = {{"keepdims", std::int64_t{0}}};
  const std::string sum = graph.node("ReduceSum", {kept, second_axis}, "head.sum", flat);
  const std::string count = graph.node("ReduceSum", {mask, second_axis}, "head.count", flat);
  return graph.node("Div", {sum, count}, "head.input");
}

void add_text_labels(const Encoder& encoder, std::uint32_t labels, const std::string& hidden, ModelGraph& model) {
  const Head& head = encoder.text_head;
  const std::string rows = add_steps(head.steps, text_rows(encoder, head.reads_mean, hidden, model), model);
  model.linear(classifier_of(encoder, head, labels), rows, kLogits);
  model.graph().output(kLogits, ElementType::kFloat, {"batch", std::int64_t{labels}});
}

void add_token_labels(const Encoder& encoder, std::uint32_t labels, const std::string& hidden, ModelGraph& model) {
  const Head& head = encoder.token_head;
  const std::string rows = add_steps(head.steps, hidden, model);
  const std::string flat = model.linear(classifier_of(encoder, head, labels), rows, "head.logits");
  add_batch_axis(model, flat, labels, kLogits);
  model.graph().output(kLogits, ElementType::kFloat, {"batch", "sequence", std::int64_t{labels}});
}

/// log(1 + relu(x)) keeps the order of numbers: it is taken once, of the largest logit of each word.
void add_words(const Encoder& encoder, const std::string& hidden, ModelGraph& model) {
  onnx::GraphBuilder& graph = model.graph();
  const WordHead& head = *encoder.word_head;
  const std::uint64_t words = encoder.facts.vocabulary_size;
  const std::string rows = add_steps(head.steps, hidden, model);
  const Table table = {word_table(encoder, model), words, encoder.embeddings.words.columns};
  std::vector<std::string> inputs = {rows, model.table(table)};
  if (!head.bias.empty()) {
    inputs.push_back(model.weight("head.bias", {static_cast<std::int64_t>(words)}, model.values({head.bias}, {words})));
  }
  const std::string logits = graph.node("Gemm", inputs, "head.logits", {{"transB", std::int64_t{1}}});
  const std::string positive = graph.node("Relu", {logits}, "head.positive");
  const std::string column =
      graph.node("Reshape", {"mask.float", model.integers("column.shape", {-1, 1})}, "head.rows");
  const std::string kept = graph.node("Mul", {positive, column}, "head.kept");
  const std::string tokens = add_batch_axis(model, kept, words, "head.tokens");
  const std::string largest = graph.node("ReduceMax", {tokens, model.integers("axis.second", {1})}, "head.largest",
                                         {{"keepdims", std::int64_t{0}}});
  const std::string raised = graph.node("Add", {largest, graph.float_constant("head.one", 1.0f)}, "head.raised");
  graph.node("Log", {raised}, kWordWeights);
  graph.output(kWordWeights, ElementType::kFloat, {"batch", static_cast<std::int64_t>(words)});
}

void add_token_heads(const Encoder& encoder, const TokenHeads& heads, const std::string& hidden, ModelGraph& model) {
  onnx::GraphBuilder& graph = model.graph();
  const std::int64_t size = encoder.facts.hidden_size;
  const std::int64_t vectors = heads.vector_dimensions;
  const onnx::Attributes as_stored = {{"transB", std::int64_t{1}}};
  const std::string vector =
      graph.node("Gemm",
                 {hidden, model.weight("head.vector.weight", {vectors, size}, heads.vector_weights),
                  model.weight("head.vector.bias", {vectors}, heads.vector_bias)},
                 "head.vector", as_stored);
  const std::string word = graph.node("Gemm",
                                      {hidden, model.weight("head.word.weight", {1, size}, heads.word_weights),
                                       model.weight("head.word.bias", {1}, {&heads.word_bias, 1})},
                                      "head.word", as_stored);
  const std::string all = graph.node("Concat", {hidden, vector, graph.node("Relu", {word}, "head.word.positive")},
                                     "head.all", {{"axis", std::int64_t{1}}});
  const std::int64_t width = size + vectors + 1;
  add_batch_axis(model, all, static_cast<std::uint64_t>(width), kLastHiddenState);
  graph.output(kLastHiddenState, ElementType::kFloat, {"batch", "sequence", width});
}

std::string add_dense(const std::vector<DenseLayer>& layers, std::string rows, ModelGraph& model) {
  onnx::GraphBuilder& graph = model.graph();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const DenseLayer& layer = layers[i];
    const std::string name = "dense." + std::to_string(i);
    const std::vector<std::int64_t> shape = {layer.channels, layer.inputs};
    rows = graph.node("Gemm",
                      {rows, model.weight(name + ".weight", shape, layer.weights),
                       model.weight(name + ".bias", {layer.channels}, layer.bias)},
                      name, {{"transB", std::int64_t{1}}});
    if (layer.activation) rows = add_activation(graph, *layer.activation, rows, name + ".active");
  }
  return rows;
}

void add_token_dense(const HeadForm& head, const std::string& hidden, ModelGraph& model) {
  const std::int64_t width = head.dense.back().channels;
  add_batch_axis(model, add_dense(head.dense, hidden, model), head.dense.back().channels, kLastHiddenState);
  model.graph().output(kLastHiddenState, ElementType::kFloat, {"batch", "sequence", width});
}

void add_text_dense(const Encoder& encoder, const HeadForm& head, const std::string& hidden, ModelGraph& model) {
  const std::string rows = add_dense(head.dense, text_rows(encoder, head.reads_mean, hidden, model), model);
  model.graph().node("Identity", {rows}, kSentenceEmbedding);
  model.graph().output(kSentenceEmbedding, ElementType::kFloat, {"batch", std::int64_t{head.dense.back().channels}});
}

}  // namespace

Status check_head(const Encoder& encoder, const HeadForm& head) {
  const bool missing = (head.kind == HeadKind::kTextLabels && encoder.text_head.classifier.empty()) ||
                       (head.kind == HeadKind::kWords && !encoder.word_head);
  if (!missing) return {};
  return Error(ErrorKind::kUnsupported,
               "models of the family " + encoder.facts.family + " are not supported with this head (architectures)",
               "config.json");
}

Linear classifier_of(const Encoder& encoder, const Head& head, std::uint32_t labels) {
  return {head.classifier, encoder.facts.hidden_size, labels, head.has_bias};
}

std::string word_table(const Encoder& encoder, const ModelGraph& model) {
  const std::string& own = encoder.word_head->decoder;
  return model.has(own + ".weight") ? own : encoder.embeddings.words.name;
}

void add_head(const Encoder& encoder, const HeadForm& head, const std::string& hidden, ModelGraph& model) {
  switch (head.kind) {
    case HeadKind::kTextLabels:
      return add_text_labels(encoder, head.labels, hidden, model);
    case HeadKind::kTokenLabels:
      return add_token_labels(encoder, head.labels, hidden, model);
    case HeadKind::kWords:
      return add_words(encoder, hidden, model);
    case HeadKind::kTokenHeads:
      return add_token_heads(encoder, *head.beside, hidden, model);
    case HeadKind::kTokenDense:
      return add_token_dense(head, hidden, model);
    case HeadKind::kTextDense:
      return add_text_dense(encoder, head, hidden, model);
    case HeadKind::kNone:
      break;
  }
  const std::uint32_t size = encoder.facts.hidden_size;
  add_batch_axis(model, hidden, size, kLastHiddenState);
  model.graph().output(kLastHiddenState, ElementType::kFloat, {"batch", "sequence", std::int64_t{size}});
}

}  // namespace weir::families
