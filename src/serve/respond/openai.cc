#include "serve/respond/openai.h"

#include "base/json_text.h"
#include "serve/respond/base64.h"

namespace weir::serve::respond {
namespace {

// A float takes up to about 14 characters; base64 5.4 of them.
constexpr std::size_t kCharactersPerFloat = 13;

void append_embedding(std::string& out, std::span<const float> vector, bool base64) {
  if (!base64) {
    append_json_floats(out, vector);
    return;
  }
  out.push_back('"');
  append_base64(out, vector);
  out.push_back('"');
}

void append_model(std::string& out, const ModelCard& model) {
  out.append(R"({"id":)");
  append_json_string(out, model.id);
  out.append(R"(,"object":"model","created":)");
  append_json_integer(out, model.created_unix_s);
  out.append(R"(,"owned_by":"weir"})");
}

}  // namespace

std::string openai_embeddings(const Vectors& vectors, bool base64, std::string_view model, std::size_t tokens) {
  std::string out;
  out.reserve(256 + vectors.size() * 64 + vectors.values.size() * (base64 ? 6 : kCharactersPerFloat));
  out.append(R"({"object":"list","data":[)");
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    out.append(i > 0 ? "," : "").append(R"({"object":"embedding","index":)");
    append_json_integer(out, static_cast<std::int64_t>(i));
    out.append(R"(,"embedding":)");
    append_embedding(out, vectors.row(i), base64);
    out.push_back('}');
  }
  out.append(R"(],"model":)");
  append_json_string(out, model);
  out.append(R"(,"usage":{"prompt_tokens":)");
  append_json_integer(out, static_cast<std::int64_t>(tokens));
  out.append(R"(,"total_tokens":)");
  append_json_integer(out, static_cast<std::int64_t>(tokens));
  return out.append("}}");
}

std::string openai_models(std::span<const ModelCard> models) {
  std::string out = R"({"object":"list","data":[)";
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_model(out, models[i]);
  }
  return out.append("]}");
}

std::string openai_model(const ModelCard& model) {
  std::string out;
  append_model(out, model);
  return out;
}

}  // namespace weir::serve::respond
