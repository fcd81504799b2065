// Bodies of OpenAI's dialect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::serve::respond {

/// The vectors of a finished request, in the order of its texts.
struct Vectors {
  std::span<const float> values;  ///< [texts, dimensions]
  std::size_t dimensions = 0;

  std::size_t size() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  std::span<const float> row(std::size_t index) const { return values.subspan(index * dimensions, dimensions); }
};

/// POST /v1/embeddings.
std::string openai_embeddings(const Vectors& vectors, bool base64, std::string_view model, std::size_t tokens);

struct ModelCard {
  std::string id;
  std::int64_t created_unix_s = 0;
};

/// GET /v1/models, GET /v1/models/{id}.
std::string openai_models(std::span<const ModelCard> models);
std::string openai_model(const ModelCard& model);

}  // namespace weir::serve::respond
