// Model families: from a config.json and a checkpoint to a graph. One file per family; registry.cc lists them.
//
// Every family's graph takes input_ids, attention_mask and, if the model has them, token_type_ids (int64
// [batch, sequence]) and gives last_hidden_state (float [batch, sequence, hidden]).
//
// The packed form of a graph, on operators of ours (docs/operators.md), takes input_ids and token_type_ids (int64
// [tokens]), offsets (int64 [texts + 1]) and, where a text's last tokens may be such that none attends to, keys (int64
// [texts]: how many are attended to). What it gives is per text (float [texts, numbers]), per token (float
// [tokens, numbers]), or both: packed_heads.h.
//
// Values; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "families/encoder.h"
#include "families/weights.h"
#include "huggingface/json_object.h"
#include "onnx/graph_builder.h"

namespace weir::families {

inline constexpr const char* kInputIds = "input_ids";
inline constexpr const char* kAttentionMask = "attention_mask";
inline constexpr const char* kTokenTypeIds = "token_type_ids";
inline constexpr const char* kLastHiddenState = "last_hidden_state";
inline constexpr const char* kLogits = "logits";
inline constexpr const char* kWordWeights = "word_weights";
inline constexpr const char* kOffsets = "offsets";
inline constexpr const char* kKeys = "keys";
inline constexpr const char* kSentenceEmbedding = "sentence_embedding";
inline constexpr const char* kTokenHeadsOutput = "token_heads";

/// What a graph gives beside, or instead of, token vectors.
enum class HeadKind {
  kNone,         ///< last_hidden_state, float [batch, sequence, hidden].
  kTokenHeads,   ///< last_hidden_state, float [batch, sequence, hidden + vector dimensions + 1]: one beside the other.
  kTextLabels,   ///< logits, float [batch, labels].
  kTokenLabels,  ///< logits, float [batch, sequence, labels].
  kWords,        ///< word_weights, float [batch, vocabulary]: SPLADE's log(1 + relu) of the largest logit of a word.
  kTokenDense,   ///< last_hidden_state, float [batch, sequence, channels of the last of HeadForm::dense].
  kTextDense,    ///< sentence_embedding, float [batch, channels of the last], of the pooled text.
};

/// Layers of their own files that read token vectors, as bge-m3 has them.
struct TokenHeads {
  std::uint32_t vector_dimensions = 0;
  std::vector<float> vector_weights;  ///< [vector_dimensions, hidden]
  std::vector<float> vector_bias;
  std::vector<float> word_weights;  ///< [hidden]: how much a token's word matters, where it is above 0.
  float word_bias = 0;
};

/// activation(weights x + bias), from a file of its own.
struct DenseLayer {
  std::uint32_t inputs = 0;
  std::uint32_t channels = 0;
  std::vector<float> weights;            ///< [channels, inputs]
  std::vector<float> bias;               ///< [channels]
  std::optional<Activation> activation;  ///< Empty: the identity.
};

struct HeadForm {
  HeadKind kind = HeadKind::kNone;
  std::uint32_t labels = 0;
  const TokenHeads* beside = nullptr;  ///< Of kTokenHeads.
  std::vector<DenseLayer> dense = {};  ///< Of kTokenDense and kTextDense: one after the other, at least one.
  bool reads_mean = true;              ///< Of kTextDense: the mean of a text's tokens, not the first.
};

/// How a packed graph computes, and what.
struct PackedForm {
  std::string precision = "int8";  ///< Of the linear layers; kUnsupported names those that are not there.
  std::string pooling = "mean";    ///< Of models without labels: mean, cls, max or last; others are not in the graph.
  HeadForm head;
  std::string attention = "auto";       ///< fp32, bf16, int8, or auto: as the linear layers.
  std::uint32_t unattended_tokens = 0;  ///< At most so many of a text's last tokens are such that none attends to.
};

/// Names of a packed graph's outputs; empty: it has none of the kind.
struct PackedOutputs {
  std::string texts;
  std::string tokens;
};

/// A model of a family, as its config.json describes it.
class Architecture {
 public:
  /// Checkpoints of one config may name their tensors in several ways.
  using Describe = std::function<Encoder(const Weights&)>;

  Architecture(Facts facts, Describe describe) : facts_(std::move(facts)), describe_(std::move(describe)) {}

  const Facts& facts() const { return facts_; }

  /// Whether the model takes token_type_ids: a tokenizer that gives none makes them all 0.
  void without_token_type_ids() { facts_.has_token_type_ids = false; }

  /// Adds the model to the graph. kCorrupt: a tensor is missing, has another shape than the config says, holds NaN or
  /// Inf, or belongs to a part that the config does not have.
  /// kUnsupported: the family has no such head, or weir does not know it.
  Status build(Weights& weights, onnx::GraphBuilder& graph, const HeadForm& head = {}) const;

  /// As build(), in packed form. kUnsupported also for models that the packed operators cannot compute.
  Result<PackedOutputs> build_packed(Weights& weights, onnx::GraphBuilder& graph, const PackedForm& form) const;

 private:
  Encoder encoder(const Weights& weights) const;

  Facts facts_;
  Describe describe_;
};

/// Chooses the family by `model_type` and checks the config. kUnsupported names what is not implemented: a model type
/// (with the nearest that is), an activation, a position embedding; kCorrupt a field that is missing or contradicts
/// another.
Result<Architecture> read_architecture(const huggingface::JsonObject& config);

}  // namespace weir::families
