#include "serve/server/render.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "serve/respond/entities.h"
#include "serve/respond/openai.h"
#include "serve/respond/scores.h"
#include "serve/respond/tei.h"

namespace weir::serve::server {
namespace {

respond::Vectors vectors_of(const Request& request) { return {request.vectors, request.dimensions}; }

bundle::ScoreFunction score_function(const Rendering& rendering) {
  return rendering.form.raw_scores ? bundle::ScoreFunction::kNone : rendering.view.manifest.score_function;
}

/// The request's numbers as scores, a row at a time.
std::vector<float> scores_of(const Rendering& rendering) {
  std::vector<float> scores = rendering.request.vectors;
  const std::size_t width = rendering.request.dimensions;
  for (std::size_t at = 0; at < scores.size(); at += width) {
    respond::apply_score_function(score_function(rendering), std::span(scores).subspan(at, width));
  }
  return scores;
}

/// The documents, which are the second texts of pairs, if there are pairs.
std::vector<std::string> documents(const Rendering& rendering) {
  std::vector<std::string> texts;
  if (!rendering.form.return_texts) return texts;
  for (const Input& input : rendering.request.inputs) texts.push_back(input.pair.value_or(input.text));
  return texts;
}

std::string render_rerank(const Rendering& rendering) {
  const bool interacts_late = rendering.request.task == Task::kTokenVectors;
  const std::vector<float> scores =
      interacts_late ? respond::late_interactions(rendering.request.token_rows, rendering.view.manifest)
                     : scores_of(rendering);
  const auto results = respond::ranked(scores, rendering.form.top.value_or(std::numeric_limits<std::uint32_t>::max()));
  const std::vector<std::string> texts = documents(rendering);
  if (rendering.route.action == Action::kTeiRerank) return respond::tei_rerank(results, texts);
  const bool second = rendering.route.path.starts_with("/v2/");
  return respond::cohere_rerank(
      {rendering.request.id, rendering.view.name, results, texts, rendering.request.tokens, second ? "2" : "1"});
}

std::string render_entities(const Rendering& rendering) {
  const Request& request = rendering.request;
  const auto& labels = rendering.view.manifest.labels;
  std::string out;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    std::vector<float> scores = request.token_rows[i];
    for (std::size_t at = 0; at < scores.size(); at += labels.size()) {
      respond::apply_score_function(score_function(rendering), std::span(scores).subspan(at, labels.size()));
    }
    const respond::LabelledTokens tokens{request.inputs[i].text, &request.encodings[i], rendering.view.tokenizer.get(),
                                         scores, labels};
    const std::string& aggregation = rendering.form.aggregation;
    out.append(out.empty() ? "" : ",")
        .append(respond::entities_json(respond::entities(tokens, aggregation), aggregation));
  }
  return rendering.form.is_list ? "[" + out + "]" : out;
}

/// Per text, the largest weight of each word; special tokens are no words, whether the tokenizer put them there or they
/// stand in the text.
std::vector<respond::SparseVector> lexical_weights(const Rendering& rendering) {
  const Request& request = rendering.request;
  const auto& wordless = rendering.view.manifest.wordless_tokens;
  const auto is_word = [&](std::int32_t id) {
    return std::find(wordless.begin(), wordless.end(), static_cast<std::uint32_t>(id)) == wordless.end();
  };
  std::vector<respond::SparseVector> result;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const auto& encoding = request.encodings[i];
    respond::SparseVector words;
    for (std::size_t token = 0; token < encoding.ids.size(); ++token) {
      const float weight = request.token_rows[i][token];
      if (encoding.special[token] != 0 || !is_word(encoding.ids[token]) || !(weight > 0)) continue;
      float& kept = words[static_cast<std::size_t>(encoding.ids[token])];
      kept = std::max(kept, weight);
    }
    result.push_back(std::move(words));
  }
  return result;
}

std::string render_tokens(const Rendering& rendering) {
  const Request& request = rendering.request;
  std::vector<respond::TokenizedText> texts;
  texts.reserve(request.inputs.size());
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    texts.push_back({prompt_of(request, request.inputs[i]) + request.inputs[i].text, &request.encodings[i]});
  }
  return respond::tei_tokenize(texts, *rendering.view.tokenizer);
}

}  // namespace

std::string render_body(const Rendering& rendering) {
  const Request& request = rendering.request;
  switch (rendering.route.action) {
    case Action::kOpenAiEmbeddings: {
      const bool base64 = rendering.form.encoding == front::http::VectorEncoding::kBase64;
      return respond::openai_embeddings(vectors_of(request), base64, rendering.view.name, request.tokens);
    }
    case Action::kTeiEmbed:
      return respond::tei_embed(vectors_of(request));
    case Action::kTeiEmbedAll:
      return respond::tei_embed_all(request.token_rows, rendering.view.manifest.token_dimensions());
    case Action::kTeiEmbedSparse:
      if (rendering.view.manifest.lexical_weights) return respond::tei_embed_sparse(lexical_weights(rendering));
      return respond::tei_embed_sparse(vectors_of(request));
    case Action::kTeiSimilarity:
      return respond::tei_similarity(vectors_of(request));
    case Action::kTeiRerank:
    case Action::kCohereRerank:
      return render_rerank(rendering);
    case Action::kTeiPredict:
      if (request.task == Task::kTokenLabels) return render_entities(rendering);
      return respond::tei_predict({scores_of(rendering), request.dimensions}, rendering.view.manifest.labels,
                                  rendering.form.is_list);
    case Action::kTeiDecode:
      return respond::tei_decode(request.decoded);
    default:
      return render_tokens(rendering);
  }
}

}  // namespace weir::serve::server
