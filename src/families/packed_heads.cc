#include "families/packed_heads.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "families/heads.h"
#include "families/packed_parameters.h"

namespace weir::families {
namespace {

using onnx::ElementType;

constexpr const char* kPoolings[] = {"mean", "cls", "max", "last"};

bool pools(const std::string& pooling) {
  return std::find(std::begin(kPoolings), std::end(kPoolings), pooling) != std::end(kPoolings);
}

class PackedHeadWriter {
 public:
  PackedHeadWriter(const Encoder& encoder, const std::string& hidden, ModelGraph& model)
      : encoder_(encoder),
        hidden_(hidden),
        model_(model),
        graph_(model.graph()),
        operators_(graph_, PackedPrecision::kFp32),
        parameters_(model, operators_) {}

  PackedOutputs embedding(const std::string& pooling) {
    const std::int64_t size = encoder_.facts.hidden_size;
    if (pools(pooling)) {
      pool(pooling, kSentenceEmbedding);
      graph_.output(kSentenceEmbedding, ElementType::kFloat, {"texts", size});
    }
    graph_.output(hidden_, ElementType::kFloat, {"tokens", size});
    return {pools(pooling) ? kSentenceEmbedding : "", hidden_};
  }

  PackedOutputs token_heads(const std::string& pooling, const TokenHeads& heads) {
    pool(pooling, kSentenceEmbedding);
    graph_.output(kSentenceEmbedding, ElementType::kFloat, {"texts", std::int64_t{encoder_.facts.hidden_size}});
    const std::string vectors = linear(
        "head.vector", hidden_, beside("head.vector", heads.vector_weights, heads.vector_bias, hidden()), "none");
    const std::string words =
        linear("head.word", hidden_, beside("head.word", heads.word_weights, {heads.word_bias}, hidden()), "relu");
    graph_.node("Concat", {vectors, words}, kTokenHeadsOutput, {{"axis", std::int64_t{1}}});
    graph_.output(kTokenHeadsOutput, ElementType::kFloat, {"tokens", std::int64_t{heads.vector_dimensions} + 1});
    return {kSentenceEmbedding, kTokenHeadsOutput};
  }

  PackedOutputs text_labels(std::uint32_t count) {
    const Head& head = encoder_.text_head;
    labels(head, count, steps(head.steps, pool(head.reads_mean ? "mean" : "cls", "head.input")));
    graph_.output(kLogits, ElementType::kFloat, {"texts", std::int64_t{count}});
    return {kLogits, {}};
  }

  PackedOutputs token_labels(std::uint32_t count) {
    const Head& head = encoder_.token_head;
    labels(head, count, steps(head.steps, hidden_));
    graph_.output(kLogits, ElementType::kFloat, {"tokens", std::int64_t{count}});
    return {{}, kLogits};
  }

  PackedOutputs token_dense(const std::vector<DenseLayer>& layers) {
    graph_.node("Identity", {dense(layers, hidden_)}, kTokenHeadsOutput);
    graph_.output(kTokenHeadsOutput, ElementType::kFloat, {"tokens", std::int64_t{layers.back().channels}});
    return {{}, kTokenHeadsOutput};
  }

  PackedOutputs text_dense(const HeadForm& head) {
    graph_.node("Identity", {dense(head.dense, pool(head.reads_mean ? "mean" : "cls", "head.input"))},
                kSentenceEmbedding);
    graph_.output(kSentenceEmbedding, ElementType::kFloat, {"texts", std::int64_t{head.dense.back().channels}});
    return {kSentenceEmbedding, {}};
  }

  PackedOutputs words(PackedPrecision precision) {
    const WordHead& head = *encoder_.word_head;
    const std::uint64_t count = encoder_.facts.vocabulary_size;
    const std::uint64_t columns = encoder_.embeddings.words.columns;
    const std::string rows = steps(head.steps, hidden_);
    const std::vector<float> values = model_.values({word_table(encoder_, model_) + ".weight"}, {count, columns});
    std::vector<float> bias;
    if (!head.bias.empty()) bias = model_.values({head.bias}, {count});
    if (model_.ok()) {
      PackedOperators operators(graph_, precision);
      auto weights = operators.weights("head.words", values, bias, columns, count);
      if (weights.ok()) {
        operators.word_weights(kWordWeights, rows, kOffsets, *weights);
      } else {
        model_.fail(std::move(weights).error());
      }
    }
    graph_.output(kWordWeights, ElementType::kFloat, {"texts", static_cast<std::int64_t>(count)});
    return {kWordWeights, {}};
  }

 private:
  std::string pool(const std::string& pooling, const std::string& output) {
    graph_.weir_node("PackedPooling", {hidden_, kOffsets}, {output},
                     {{"pooling", pooling}, {"normalize", std::int64_t{0}}});
    return output;
  }

  std::string steps(const std::vector<HeadStep>& steps, std::string rows) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string name = "head." + std::to_string(i);
      const std::string weights = parameters_.linear(name, {&steps[i].dense});
      rows = linear(name + ".dense", rows, weights, packed_activation_name(steps[i].activation));
      if (!steps[i].norm) continue;
      rows = operators_
                 .layer_norm(name + ".normalized", {rows, {}, parameters_.norm(*steps[i].norm), PackedWanted::kValues})
                 .values;
    }
    return rows;
  }

  std::string dense(const std::vector<DenseLayer>& layers, std::string rows) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const DenseLayer& layer = layers[i];
      const std::string name = "dense." + std::to_string(i);
      const char* activation = layer.activation ? packed_activation_name(*layer.activation) : "none";
      rows = linear(name, rows, beside(name, layer.weights, layer.bias, layer.inputs), activation);
    }
    return rows;
  }

  void labels(const Head& head, std::uint32_t count, const std::string& rows) {
    const Linear layer = classifier_of(encoder_, head, count);
    linear(kLogits, rows, parameters_.linear("head.labels", {&layer}), "none");
  }

  std::string linear(const std::string& name, const std::string& rows, const std::string& weights,
                     const char* activation) {
    return operators_.linear(name, {rows, {}, {}}, weights, activation, PackedWanted::kValues).values;
  }

  std::size_t hidden() const { return encoder_.facts.hidden_size; }

  /// Weights of a file of their own.
  std::string beside(const std::string& name, const std::vector<float>& values, const std::vector<float>& bias,
                     std::size_t inputs) {
    auto weights = operators_.weights(name, values, bias, inputs, bias.size());
    if (weights.ok()) return *weights;
    model_.fail(std::move(weights).error());
    return name;
  }

  const Encoder& encoder_;
  const std::string& hidden_;
  ModelGraph& model_;
  onnx::GraphBuilder& graph_;
  PackedOperators operators_;
  PackedParameters parameters_;
};

}  // namespace

Status check_packed_head(const Encoder& encoder, const PackedForm& form) {
  WEIR_RETURN_IF_ERROR(check_head(encoder, form.head));
  if (form.head.kind != HeadKind::kTokenHeads || pools(form.pooling)) return {};
  const std::string flag = "--precision";
  return Error(ErrorKind::kUnsupported,
               flag + ": packed graphs do not have the pooling " + form.pooling + " beside other vectors; take fp32",
               flag);
}

PackedOutputs add_packed_head(const Encoder& encoder, const PackedForm& form, PackedPrecision precision,
                              const std::string& hidden, ModelGraph& model) {
  PackedHeadWriter writer(encoder, hidden, model);
  switch (form.head.kind) {
    case HeadKind::kTextLabels:
      return writer.text_labels(form.head.labels);
    case HeadKind::kTokenLabels:
      return writer.token_labels(form.head.labels);
    case HeadKind::kWords:
      return writer.words(precision);
    case HeadKind::kTokenHeads:
      return writer.token_heads(form.pooling, *form.head.beside);
    case HeadKind::kTokenDense:
      return writer.token_dense(form.head.dense);
    case HeadKind::kTextDense:
      return writer.text_dense(form.head);
    case HeadKind::kNone:
      break;
  }
  return writer.embedding(form.pooling);
}

}  // namespace weir::families
