// The on-disk artefact that weir serves: a folder that `weir import` writes once and nobody changes after.
//
//   weir.json        what the model is and how to use it: the Manifest below (docs/formats/bundle.md)
//   model.onnx       the graph
//   model.weights    its initializers, each page-aligned; serving maps it
//   tokenizer.json   as it came with the model
//   golden.json      texts and the vectors they gave at import; the self-test at load compares
//
// Values; no threads. A broken or foreign folder gives an error that names the file and the field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weir::bundle {

inline constexpr int kFormatVersion = 1;

/// How token vectors become a text's, as sentence-transformers has them.
enum class Pooling {
  kMean,
  kCls,
  kMax,
  kLast,
  kMeanSqrtLength,  ///< The sum, divided by the square root of the number of tokens.
  kWeightedMean,    ///< The i-th token counts i times.
};

/// What the model is for.
enum class Task {
  kEmbedding,      ///< A vector per text.
  kRerank,         ///< A score per pair of query and text.
  kClassify,       ///< A score per label and text.
  kTokenClassify,  ///< A score per label and token.
  kSparse,         ///< A weight per word of the vocabulary and text.
  kMultiVector,    ///< A vector per token, of queries and documents apart (ColBERT).
};

/// What makes a score of the graph's numbers.
enum class ScoreFunction { kNone, kSigmoid, kSoftmax };

/// How texts lie in the graph's inputs: input_ids, token_type_ids if the model has them, and
enum class Layout {
  kPadded,  ///< attention_mask, all int64 [batch, sequence].
  kPacked,  ///< offsets [texts + 1]; the others [tokens], one text after the other. Operators of ours (domain weir).
};

/// What the graph's output holds.
enum class Output {
  kTokenVectors,  ///< float [batch, sequence, numbers], or [tokens, numbers] of packed texts: pooling is ours.
  kTextVectors,   ///< float [batch, numbers]: the graph has pooled already.
};

struct Lineage {
  struct Source {
    std::string file;    ///< Name relative to the imported folder.
    std::string sha256;  ///< Lower-case hex.
    std::uint64_t bytes = 0;
  };
  std::string weir_version;
  std::string created;  ///< RFC 3339, UTC.
  std::vector<Source> sources;
  std::vector<std::string> steps;  ///< In order, such as "import: bert, fp32".
};

/// Of multi-vector models: how a text becomes tokens, as a query and as a document. Both may get a marker after the
/// first token; queries may be filled up to their length with one token, which gives vectors as any other does.
struct LateInteraction {
  std::uint32_t query_tokens = 0;             ///< Tokens of a query, its marker and the filling included.
  std::uint32_t document_tokens = 0;          ///< Of the longest document, its marker included.
  std::optional<std::uint32_t> query_marker;  ///< Ids; empty: the role's prompt takes their place.
  std::optional<std::uint32_t> document_marker;
  std::optional<std::uint32_t> expansion_token;  ///< What queries are filled up with; empty: they are not.
  bool attend_to_expansion = false;              ///< Whether tokens attend to those; they attend to the others anyway.
  std::vector<std::uint32_t> skipped_tokens;     ///< Ids whose vectors are left out of documents.
  bool length_normalized = false;                ///< A score is the mean over a query's tokens, not the sum.
};

inline constexpr std::uint32_t kLeastTokensOfARole = 3;  ///< The first, a marker, the last.

/// Names of prompts that say what a text is to a multi-vector model.
inline constexpr const char* kQueryPrompt = "query";
inline constexpr const char* kDocumentPrompt = "document";

struct Manifest {
  std::string name;    ///< The model's name for clients, such as "all-MiniLM-L6-v2".
  std::string family;  ///< "bert", or "onnx" for a graph taken as it is.
  Task task = Task::kEmbedding;
  std::string precision = "fp32";

  std::uint32_t dimensions = 0;  ///< Length of a text's vector, or of its (or its tokens') scores.
  std::uint32_t max_tokens = 0;  ///< Per text, special tokens included; longer texts are truncated or refused.
  std::uint32_t vocabulary_size = 0;
  std::uint32_t pad_token_id = 0;
  bool has_token_type_ids = true;

  Layout layout = Layout::kPadded;
  Output output = Output::kTokenVectors;
  std::string output_name = "last_hidden_state";
  /// Of packed graphs with kTextVectors: a second output, float [tokens, token_width()]; empty: none.
  std::string token_output_name;
  Pooling pooling = Pooling::kMean;
  bool normalize = true;  ///< L2-normalize vectors unless the request says otherwise.

  std::map<std::string, std::string> prompts;        ///< Prompt name → text put before an input.
  std::optional<std::string> default_prompt;         ///< A key of `prompts`.
  std::vector<std::uint32_t> matryoshka_dimensions;  ///< Lengths a vector may be cut to; empty: any shorter length.

  // Of embedding models that give more than one kind of vector: what stands behind a token's own numbers, or alone in
  // the output `token_output_name`.
  std::uint32_t multi_vector_dimensions = 0;   ///< Vectors of tokens, to be normalized; the first token has none.
  bool lexical_weights = false;                ///< One number: how much the token's word matters.
  std::vector<std::uint32_t> wordless_tokens;  ///< Ids that are no words and have no weight.

  /// Numbers beside `dimensions`.
  std::uint32_t more_numbers() const { return multi_vector_dimensions + (lexical_weights ? 1 : 0); }
  /// Numbers of a token, or of a text, in the graph's output.
  std::uint32_t width() const { return dimensions + (token_output_name.empty() ? more_numbers() : 0); }
  /// Numbers of a token, in the output that has tokens.
  std::uint32_t token_width() const {
    return token_output_name.empty() || more_numbers() == 0 ? width() : more_numbers();
  }

  /// Numbers of a token's vector.
  std::uint32_t token_dimensions() const { return multi_vector_dimensions > 0 ? multi_vector_dimensions : dimensions; }

  std::optional<LateInteraction> late_interaction;  ///< Of multi-vector models.
  /// Of a text's last tokens, how many may be such that no token attends to them: what fills a query up. A packed graph
  /// then takes an input `keys`, too.
  std::uint32_t unattended_tokens() const {
    if (!late_interaction || !late_interaction->expansion_token || late_interaction->attend_to_expansion) return 0;
    return late_interaction->query_tokens;
  }

  std::vector<std::string> labels;  ///< [dimensions], of classifiers.
  ScoreFunction score_function = ScoreFunction::kNone;

  Lineage lineage;
};

/// A text, or a pair of texts, and the vector it must give.
struct Golden {
  std::string text;
  std::vector<float> vector;                       ///< [dimensions], pooled, and normalized if the manifest says so.
  std::optional<std::string> pair = std::nullopt;  ///< The second text.
};

struct Bundle {
  std::string folder;
  Manifest manifest;
  std::vector<Golden> golden;

  std::string model_path() const { return folder + "/model.onnx"; }
  std::string weights_path() const { return folder + "/model.weights"; }
  std::string tokenizer_path() const { return folder + "/tokenizer.json"; }
};

/// Reads and checks weir.json and golden.json, and that the other files are there. kNotFound: no such folder, or no
/// weir.json in it; kCorrupt: a field is missing, of the wrong type or contradicts another; kUnsupported: a newer
/// format.
Result<Bundle> load(const std::string& folder);

/// Writes weir.json and golden.json into `folder`, which exists. kIo.
Status write_manifest(const std::string& folder, const Manifest& manifest);
Status write_golden(const std::string& folder, const std::vector<Golden>& golden);

/// "embedding", "rerank", "classify", "token_classify", "sparse", "multi_vector".
std::string_view task_name(Task task);
std::optional<Task> task_from_name(std::string_view name);

/// "none", "sigmoid", "softmax".
std::string_view score_function_name(ScoreFunction function);
std::optional<ScoreFunction> score_function_from_name(std::string_view name);

std::string_view layout_name(Layout layout);
std::optional<Layout> layout_from_name(std::string_view name);

std::string_view pooling_name(Pooling pooling);
std::optional<Pooling> pooling_from_name(std::string_view name);

/// Lower-case hex SHA-256 of a file's bytes. kNotFound, kIo.
Result<std::string> sha256_file(const std::string& path);

}  // namespace weir::bundle
