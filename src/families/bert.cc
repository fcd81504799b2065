// The graph is flat: everything but attention works on [tokens, hidden], where Gemm adds the bias inside the product,
// and Add followed by LayerNormalization on two dimensions is not fused into ONNX Runtime's SkipLayerNormalization,
// which is several times slower on CPUs. docs/decisions/0020-engine-graph.md has the measurements.
#include "families/bert.h"

#include <cmath>
#include <limits>
#include <utility>

#include "families/activation.h"

namespace weir::families {
namespace {

using huggingface::JsonObject;
using onnx::ElementType;

constexpr std::uint32_t kMaxSize = 1u << 20;
constexpr std::uint32_t kMaxVocabulary = 1u << 24;
constexpr std::uint32_t kMaxLayers = 1000;

struct Config {
  Facts facts;
  std::uint32_t heads = 0;
  std::uint32_t intermediate_size = 0;
  std::uint32_t token_types = 0;
  float layer_norm_epsilon = 0;
  Activation activation = Activation::kGelu;
};

Result<std::uint32_t> positive(const JsonObject& config, const char* key, std::uint32_t max) {
  WEIR_ASSIGN_OR_RETURN(const auto value, config.count(key, max));
  if (!value) return config.error(key, "missing");
  if (*value == 0) return config.error(key, "must not be 0");
  return *value;
}

/// A flag that turns BERT into something else than an encoder.
Status refuse_flag(const JsonObject& config, const char* key) {
  WEIR_ASSIGN_OR_RETURN(const auto on, config.boolean(key));
  if (!on.value_or(false)) return {};
  return config.error(key, "true is not supported; weir has encoders", ErrorKind::kUnsupported);
}

Status check_kind(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto positions, config.text("position_embedding_type"));
  if (positions.value_or("absolute") != "absolute") {
    return config.error("position_embedding_type", "'" + *positions + "' is not supported; weir has absolute",
                        ErrorKind::kUnsupported);
  }
  WEIR_RETURN_IF_ERROR(refuse_flag(config, "is_decoder"));
  WEIR_RETURN_IF_ERROR(refuse_flag(config, "add_cross_attention"));
  if (config.has("quantization_config")) {
    return config.error("quantization_config", "quantized checkpoints are not supported; import the original",
                        ErrorKind::kUnsupported);
  }
  return {};
}

Status read_sizes(const JsonObject& config, Config& result) {
  Facts& facts = result.facts;
  WEIR_ASSIGN_OR_RETURN(facts.hidden_size, positive(config, "hidden_size", kMaxSize));
  WEIR_ASSIGN_OR_RETURN(facts.vocabulary_size, positive(config, "vocab_size", kMaxVocabulary));
  WEIR_ASSIGN_OR_RETURN(facts.max_positions, positive(config, "max_position_embeddings", kMaxSize));
  WEIR_ASSIGN_OR_RETURN(facts.layers, positive(config, "num_hidden_layers", kMaxLayers));
  WEIR_ASSIGN_OR_RETURN(result.heads, positive(config, "num_attention_heads", kMaxSize));
  WEIR_ASSIGN_OR_RETURN(result.intermediate_size, positive(config, "intermediate_size", kMaxSize));
  if (facts.hidden_size % result.heads != 0) {
    return config.error("num_attention_heads", std::to_string(result.heads) + " does not divide hidden_size (" +
                                                   std::to_string(facts.hidden_size) + ")");
  }
  WEIR_ASSIGN_OR_RETURN(const auto token_types, config.count("type_vocab_size", kMaxSize));
  if (!token_types) return config.error("type_vocab_size", "missing");
  result.token_types = *token_types;
  facts.has_token_type_ids = *token_types > 0;
  WEIR_ASSIGN_OR_RETURN(const auto pad, config.count("pad_token_id", kMaxVocabulary));
  facts.pad_token_id = pad.value_or(0);
  if (facts.pad_token_id >= facts.vocabulary_size) {
    return config.error("pad_token_id", std::to_string(facts.pad_token_id) + " is outside vocab_size (" +
                                            std::to_string(facts.vocabulary_size) + ")");
  }
  return {};
}

Result<Config> read_config(const JsonObject& config) {
  Config result;
  result.facts.family = "bert";
  WEIR_RETURN_IF_ERROR(check_kind(config));
  WEIR_RETURN_IF_ERROR(read_sizes(config, result));
  WEIR_ASSIGN_OR_RETURN(const auto epsilon, config.number("layer_norm_eps"));
  if (!epsilon) return config.error("layer_norm_eps", "missing");
  if (!(*epsilon >= 0 && *epsilon <= 1)) return config.error("layer_norm_eps", "must be from 0 to 1");
  result.layer_norm_epsilon = static_cast<float>(*epsilon);
  WEIR_ASSIGN_OR_RETURN(const auto name, config.text("hidden_act"));
  if (!name) return config.error("hidden_act", "missing");
  const auto activation = activation_from_name(*name);
  if (!activation) {
    return config.error("hidden_act", "'" + *name + "' is not supported; weir has " + activation_names(),
                        ErrorKind::kUnsupported);
  }
  result.activation = *activation;
  return result;
}

/// Adds one model to one graph; the first failure sticks, and what follows adds nothing.
class Builder {
 public:
  Builder(const Config& config, Weights& weights, onnx::GraphBuilder& graph)
      : config_(config), weights_(weights), graph_(graph), hidden_(config.facts.hidden_size) {
    if (!weights.has("embeddings.word_embeddings.weight") && weights.has("bert.embeddings.word_embeddings.weight")) {
      prefix_ = "bert.";
    }
  }

  Status build() {
    add_inputs();
    std::string hidden = embeddings();
    for (std::uint32_t layer = 0; layer < config_.facts.layers && status_.ok(); ++layer)
      hidden = encoder(hidden, layer);
    const std::string shape =
        graph_.node("Concat", {"shape", integers("hidden", {hidden_})}, "output_shape", {{"axis", std::int64_t{0}}});
    graph_.node("Reshape", {hidden, shape}, kLastHiddenState);
    graph_.output(kLastHiddenState, ElementType::kFloat, {"batch", "sequence", static_cast<std::int64_t>(hidden_)});
    if (status_.ok()) status_ = check_left_over();
    return status_;
  }

 private:
  void add_inputs() {
    for (const char* name : {kInputIds, kAttentionMask}) graph_.input(name, ElementType::kInt64, {"batch", "sequence"});
    if (config_.token_types > 0) graph_.input(kTokenTypeIds, ElementType::kInt64, {"batch", "sequence"});
    graph_.node("Shape", {kInputIds}, "shape");
    graph_.node("Concat", {"shape", integers("heads", {config_.heads, hidden_ / config_.heads})}, "heads_shape",
                {{"axis", std::int64_t{0}}});
    integers("flat_shape", {-1, hidden_});
    // 0 for real tokens and the lowest float for padding, added to the scores: its softmax is 0 exactly, so that a
    // text's vector does not depend on how far it was padded.
    const std::string mask = graph_.node("Cast", {kAttentionMask}, "mask.float", {{"to", std::int64_t{1}}});
    const std::string wide = graph_.node("Unsqueeze", {mask, integers("mask.axes", {1, 2})}, "mask.wide");
    const std::string padding = graph_.node("Sub", {graph_.float_constant("one", 1.0f), wide}, "mask.padding");
    const std::string lowest = graph_.float_constant("lowest", std::numeric_limits<float>::lowest());
    graph_.node("Mul", {padding, lowest}, "mask");
    const auto head_size = hidden_ / config_.heads;
    graph_.float_constant("score_divisor", std::sqrt(static_cast<float>(head_size)));
  }

  std::string embeddings() {
    const std::string word = table("embeddings.word_embeddings.weight", config_.facts.vocabulary_size);
    std::string sum = graph_.node("Gather", {word, kInputIds}, "embeddings.words");
    if (config_.token_types > 0) {
      const std::string types = table("embeddings.token_type_embeddings.weight", config_.token_types);
      const std::string rows = graph_.node("Gather", {types, kTokenTypeIds}, "embeddings.types");
      sum = graph_.node("Add", {sum, rows}, "embeddings.words_types");
    }
    const std::string positions = table("embeddings.position_embeddings.weight", config_.facts.max_positions);
    const std::string length =
        graph_.node("Shape", {kInputIds}, "length", {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    const std::string zero = integers("zero", {0});
    const std::string rows = graph_.node("Slice", {positions, zero, length, zero}, "embeddings.positions");
    sum = graph_.node("Add", {sum, rows}, "embeddings.sum");
    const std::string flat = graph_.node("Reshape", {sum, "flat_shape"}, "embeddings.flat");
    return layer_norm("embeddings.LayerNorm", flat, "embeddings.output");
  }

  std::string encoder(const std::string& input, std::uint32_t layer) {
    const std::string name = "encoder.layer." + std::to_string(layer) + ".";
    const std::string context = attention(input, name + "attention.self.");
    const std::string projected = linear(name + "attention.output.dense", context, hidden_, hidden_);
    const std::string attended = graph_.node("Add", {projected, input}, name + "attention.sum");
    const std::string middle = layer_norm(name + "attention.output.LayerNorm", attended, name + "attention.normalized");
    const std::string wide = linear(name + "intermediate.dense", middle, hidden_, config_.intermediate_size);
    const std::string active = add_activation(graph_, config_.activation, wide, name + "intermediate.active");
    const std::string narrow = linear(name + "output.dense", active, config_.intermediate_size, hidden_);
    const std::string sum = graph_.node("Add", {narrow, middle}, name + "sum");
    return layer_norm(name + "output.LayerNorm", sum, name + "normalized");
  }

  std::string attention(const std::string& input, const std::string& name) {
    const std::string query = head_view(linear(name + "query", input, hidden_, hidden_), {0, 2, 1, 3});
    const std::string key = head_view(linear(name + "key", input, hidden_, hidden_), {0, 2, 3, 1});
    const std::string value = head_view(linear(name + "value", input, hidden_, hidden_), {0, 2, 1, 3});
    const std::string products = graph_.node("MatMul", {query, key}, name + "products");
    const std::string scores = graph_.node("Div", {products, "score_divisor"}, name + "scores");
    const std::string masked = graph_.node("Add", {scores, "mask"}, name + "masked");
    const std::string weights = graph_.node("Softmax", {masked}, name + "weights", {{"axis", std::int64_t{-1}}});
    const std::string context = graph_.node("MatMul", {weights, value}, name + "context");
    const std::string tokens =
        graph_.node("Transpose", {context}, name + "context.tokens", {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return graph_.node("Reshape", {tokens, "flat_shape"}, name + "context.flat");
  }

  /// [tokens, hidden] as [batch, sequence, heads, head size], permuted.
  std::string head_view(const std::string& input, const std::vector<std::int64_t>& permutation) {
    const std::string heads = graph_.node("Reshape", {input, "heads_shape"}, input + ".heads");
    return graph_.node("Transpose", {heads}, input + ".transposed", {{"perm", permutation}});
  }

  std::string linear(const std::string& name, const std::string& input, std::uint64_t columns, std::uint64_t rows) {
    if (!status_.ok()) return name;
    auto values = weights_.take_transposed(prefix_ + name + ".weight", rows, columns);
    const std::string weight = add_weight(name + ".weight", {columns, rows}, std::move(values));
    const std::string bias = vector(name + ".bias", {prefix_ + name + ".bias"}, rows);
    return graph_.node("Gemm", {input, weight, bias}, name);
  }

  std::string layer_norm(const std::string& name, const std::string& input, const std::string& output) {
    // Checkpoints converted from TensorFlow long ago say gamma and beta.
    const std::string scale =
        vector(name + ".weight", {prefix_ + name + ".weight", prefix_ + name + ".gamma"}, hidden_);
    const std::string bias = vector(name + ".bias", {prefix_ + name + ".bias", prefix_ + name + ".beta"}, hidden_);
    return graph_.node("LayerNormalization", {input, scale, bias}, output,
                       {{"axis", std::int64_t{-1}}, {"epsilon", config_.layer_norm_epsilon}});
  }

  std::string table(const std::string& name, std::uint64_t rows) {
    if (!status_.ok()) return name;
    const std::vector<std::uint64_t> shape{rows, config_.facts.hidden_size};
    return add_weight(name, shape, weights_.take({prefix_ + name}, shape));
  }

  std::string vector(const std::string& name, const std::vector<std::string>& names, std::uint64_t size) {
    if (!status_.ok()) return name;
    return add_weight(name, {size}, weights_.take(names, {size}));
  }

  std::string add_weight(const std::string& name, const std::vector<std::uint64_t>& shape,
                         Result<std::vector<float>> values) {
    if (!values.ok()) {
      if (status_.ok()) status_ = std::move(values).error();
      return name;
    }
    return graph_.weight(name, std::vector<std::int64_t>(shape.begin(), shape.end()), *values);
  }

  std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
    return graph_.int64_constant(name, {static_cast<std::int64_t>(values.size())}, values);
  }

  /// Heads on top of the encoder are no concern of ours; a piece of encoder that the config does not have is.
  Status check_left_over() const {
    for (const std::string& name : weights_.left_over()) {
      const bool of_encoder = name.starts_with(prefix_ + "embeddings.") || name.starts_with(prefix_ + "encoder.");
      if (!of_encoder || name == prefix_ + "embeddings.position_ids") continue;
      return Error(ErrorKind::kCorrupt,
                   "tensor '" + name + "' is in the checkpoint, but a bert of this config.json has none of that name",
                   "config.json");
    }
    return {};
  }

  const Config& config_;
  Weights& weights_;
  onnx::GraphBuilder& graph_;
  std::int64_t hidden_;
  std::string prefix_;
  Status status_;
};

class Bert : public Architecture {
 public:
  explicit Bert(Config config) : config_(std::move(config)) {}
  const Facts& facts() const override { return config_.facts; }
  Status build(Weights& weights, onnx::GraphBuilder& graph) const override {
    return Builder(config_, weights, graph).build();
  }

 private:
  Config config_;
};

}  // namespace

Result<std::unique_ptr<Architecture>> read_bert(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(Config result, read_config(config));
  return std::unique_ptr<Architecture>(std::make_unique<Bert>(std::move(result)));
}

}  // namespace weir::families
