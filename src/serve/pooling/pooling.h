// One vector per text: pooling over the text's own tokens, then a cut to fewer dimensions, then L2 normalization.
//
// What it means is what sentence-transformers computes: every mode over real tokens (special ones
// included, padding left out), normalization with a smallest norm of 1e-12. A cut comes before normalization, so that a
// shortened vector has length 1 again, as OpenAI's `dimensions` promises (sentence-transformers' `truncate_dim` does so
// with `normalize_embeddings`).
//
// Only real tokens are read, in their order, with sums in double: a text's vector is the same bits in any batch.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "serve/request/hidden_rows.h"
#include "serve/request/request.h"

namespace weir::serve::pooling {

/// How to make a text's vector.
struct Rule {
  bundle::Pooling pooling = bundle::Pooling::kMean;
  bool normalize = true;
  std::uint32_t dimensions = 0;  ///< Length of the result, at most the hidden size.
};

/// What a request's options and the model's manifest make together. kInvalidArgument, at `dimensions`, when the model
/// has no vectors of that length.
Result<Rule> rule_for(const EmbedOptions& options, const bundle::Manifest& manifest);

/// Pools `token_vectors` [tokens, hidden] into `vector` [rule.dimensions]. kBackend when a value that enters it is NaN
/// or Inf; kEmptyInput when there are no tokens.
Status pool_tokens(std::span<const float> token_vectors, std::size_t hidden, const Rule& rule, std::span<float> vector);

/// Pools row `row`, whose first `tokens` columns are real, into `vector` [rule.dimensions]. Errors as pool_tokens.
Status pool_row(const HiddenRows& hidden, std::size_t row, std::size_t tokens, const Rule& rule,
                std::span<float> vector);

/// Which of a token's numbers a task wants.
struct TokenColumns {
  std::size_t first = 0;
  std::size_t count = 0;
  bool normalize = false;
  bool skip_first_token = false;                       ///< Its multi-vector is none.
  std::span<const std::uint32_t> skipped_tokens = {};  ///< Ids of tokens that have none. The manifest's.
};
/// `is_query` is of multi-vector models: the vectors of all tokens, which documents do not have.
TokenColumns columns_for(Task task, const bundle::Manifest& manifest, bool is_query);

/// Copies those numbers of the tokens of row `row`, whose ids are `ids`: [tokens that are not skipped, count]. kBackend
/// when one is NaN or Inf.
Status token_rows(const HiddenRows& hidden, std::size_t row, std::span<const std::int32_t> ids,
                  const TokenColumns& columns, std::vector<float>& vectors);

/// Makes one vector of those of a long text's windows, in their order: the mean, each counting as often as it has
/// tokens, or the largest of each dimension.
class WindowJoiner {
 public:
  WindowJoiner(WindowPooling pooling, std::size_t dimensions) : pooling_(pooling), sums_(dimensions) {}

  void begin(std::span<const float> vector, std::size_t tokens);
  void add(std::span<const float> vector, std::size_t tokens);
  void finish(bool normalized, std::span<float> vector) const;

 private:
  WindowPooling pooling_;
  std::vector<double> sums_;
  double tokens_ = 0;
};

}  // namespace weir::serve::pooling
