// Bodies of Text Embeddings Inference's dialect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/respond/openai.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve::respond {

/// POST /embed.
std::string tei_embed(const Vectors& vectors);

/// A text, with its prompt if it got one, and its tokens with offsets.
struct TokenizedText {
  std::string text;  ///< UTF-8. Empty when the client sent ids.
  const tokenizers::Encoding* encoding = nullptr;
};

/// POST /tokenize. `start` and `stop` count bytes, as TEI's do; a special token has neither.
std::string tei_tokenize(const std::vector<TokenizedText>& texts, const tokenizers::Tokenizer& tokenizer);

/// GET /info.
struct Info {
  std::string model_id;
  std::string model_sha;  ///< Empty: null.
  std::string model_dtype;
  std::string model_type;           ///< "embedding", "reranker", "classifier".
  std::string pooling;              ///< Of embedding models.
  std::vector<std::string> labels;  ///< Of the others.
  std::size_t max_concurrent_requests = 0;
  std::size_t max_input_length = 0;
  std::size_t max_batch_tokens = 0;
  std::size_t max_batch_requests = 0;
  std::size_t max_client_batch_size = 0;
  bool auto_truncate = true;
  std::size_t tokenization_workers = 1;
  std::string version;
};
std::string tei_info(const Info& info);

}  // namespace weir::serve::respond
