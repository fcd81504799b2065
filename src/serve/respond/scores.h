// Scores of rerankers and classifiers, sparse vectors and vectors of tokens, in the dialects of TEI, Cohere and Jina.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/bundle.h"
#include "serve/respond/openai.h"

namespace weir::serve::respond {

/// Numbers of the graph to scores, in place.
void apply_score_function(bundle::ScoreFunction function, std::span<float> numbers);

/// What is made of the products of a query's tokens: their sum, as ColBERT has it, or their mean, as bge-m3 has it.
enum class LateInteraction { kSum, kMean };

/// Late interaction of a query's and a text's vectors [tokens, dimensions]: of each of the query's the largest product
/// with any of the text's. 0 where one has no vectors.
float late_interaction(std::span<const float> query, std::span<const float> text, std::size_t dimensions,
                       LateInteraction how);

/// The scores of texts, whose vectors are all rows but the last, for the query, whose vectors are the last.
std::vector<float> late_interactions(std::span<const std::vector<float>> rows, const bundle::Manifest& manifest);

/// A text by its place in the request.
struct Ranked {
  std::size_t index = 0;
  float score = 0;
};

/// The best first; of equals the earlier. `top` at most.
std::vector<Ranked> ranked(std::span<const float> scores, std::size_t top);

/// POST /rerank. `texts` is empty where they are not asked for.
std::string tei_rerank(std::span<const Ranked> results, std::span<const std::string> texts);

/// POST /v1/rerank and /v2/rerank: an answer that clients of Cohere and of Jina both read.
struct RerankAnswer {
  std::string id;
  std::string model;
  std::span<const Ranked> results;
  std::span<const std::string> documents;  ///< Empty where they are not asked for.
  std::size_t tokens = 0;
  std::string_view api_version = "1";
};
std::string cohere_rerank(const RerankAnswer& answer);

/// POST /predict: per text its labels, the best first. `is_list`: a list of such lists.
std::string tei_predict(const Vectors& scores, std::span<const std::string> labels, bool is_list);

/// POST /embed_sparse: what is not 0.
std::string tei_embed_sparse(const Vectors& vectors);
/// The same of vectors that hold nothing else: a word's id → its weight.
using SparseVector = std::map<std::size_t, float>;
std::string tei_embed_sparse(std::span<const SparseVector> vectors);

/// POST /embed_all: a list of vectors per text.
std::string tei_embed_all(std::span<const std::vector<float>> rows, std::size_t dimensions);

/// POST /similarity: cosines of the first vector with each of the others.
std::string tei_similarity(const Vectors& vectors);

/// POST /decode.
std::string tei_decode(std::span<const std::string> texts);

}  // namespace weir::serve::respond
