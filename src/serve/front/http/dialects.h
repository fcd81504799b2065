// The bodies of the HTTP dialects, read into what the pipeline takes. OpenAI's fields that weir does not know are
// ignored, as its clients expect; likewise TEI's. What a field may hold is in docs/http-api.md.
#pragma once

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
};

/// POST /v1/embeddings. Errors as JsonObject's.
Result<ParsedBody> parse_openai_embeddings(std::string_view body, std::size_t max_inputs);

/// POST /embed.
Result<ParsedBody> parse_tei_embed(std::string_view body, std::size_t max_inputs);

/// POST /tokenize.
Result<ParsedBody> parse_tei_tokenize(std::string_view body, std::size_t max_inputs);

}  // namespace weir::serve::front::http
