// The bodies of the HTTP dialects, read into what the pipeline takes. OpenAI's fields that weir does not know are
// ignored, as its clients expect; likewise TEI's. What a field may hold is in docs/http-api.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/front/http/json_object.h"
#include "serve/request/request.h"

namespace weir::serve::front::http {

enum class VectorEncoding { kFloat, kBase64 };

struct ParsedBody {
  std::string model;  ///< Empty: not named.
  std::vector<Input> inputs;
  std::string_view inputs_field = "input";  ///< What the dialect calls them. A literal.
  EmbedOptions options;
  VectorEncoding encoding = VectorEncoding::kFloat;  ///< Of the answer.

  // of answers with scores
  bool raw_scores = false;    ///< The model's numbers as they are.
  bool return_texts = false;  ///< Put the texts into the answer.
  bool is_list = false;       ///< The answer is a list of answers.
  std::optional<std::uint32_t> top;
  std::string aggregation = "simple";  ///< How tokens with labels become words and names.
};

/// POST /v1/embeddings. Errors as JsonObject's.
Result<ParsedBody> parse_openai_embeddings(std::string_view body, std::size_t max_inputs);

/// POST /embed.
Result<ParsedBody> parse_tei_embed(std::string_view body, std::size_t max_inputs);

/// POST /rerank. Each text is an input with the query before it.
Result<ParsedBody> parse_tei_rerank(std::string_view body, std::size_t max_inputs);

/// POST /predict.
Result<ParsedBody> parse_tei_predict(std::string_view body, std::size_t max_inputs);

/// POST /embed_sparse and /embed_all.
Result<ParsedBody> parse_tei_embed_raw(std::string_view body, std::size_t max_inputs);

/// POST /similarity. The source sentence is the first input.
Result<ParsedBody> parse_tei_similarity(std::string_view body, std::size_t max_inputs);

/// POST /decode.
Result<ParsedBody> parse_tei_decode(std::string_view body, std::size_t max_inputs);

/// POST /v1/rerank and /v2/rerank, Cohere's and Jina's.
Result<ParsedBody> parse_cohere_rerank(std::string_view body, std::size_t max_inputs);

/// POST /tokenize.
Result<ParsedBody> parse_tei_tokenize(std::string_view body, std::size_t max_inputs);

}  // namespace weir::serve::front::http
