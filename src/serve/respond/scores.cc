#include "serve/respond/scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/json_text.h"

namespace weir::serve::respond {
namespace {

void softmax(std::span<float> numbers) {
  const float largest = *std::max_element(numbers.begin(), numbers.end());
  double sum = 0;
  for (float& number : numbers) {
    number = std::exp(number - largest);
    sum += static_cast<double>(number);
  }
  for (float& number : numbers) number = static_cast<float>(static_cast<double>(number) / sum);
}

/// "[a,b]" of what `append` writes for each element.
template <class Elements, class Append>
void append_list(std::string& out, const Elements& elements, const Append& append) {
  out.push_back('[');
  bool comma = false;
  for (const auto& element : elements) {
    if (comma) out.push_back(',');
    comma = true;
    append(element);
  }
  out.push_back(']');
}

void append_labels(std::string& out, std::span<const float> scores, std::span<const std::string> labels) {
  append_list(out, ranked(scores, scores.size()), [&](const Ranked& one) {
    out.append(R"({"score":)");
    append_json_float(out, one.score);
    out.append(R"(,"label":)");
    append_json_string(out, one.index < labels.size() ? labels[one.index] : "LABEL_" + std::to_string(one.index));
    out.push_back('}');
  });
}

void append_index_and_score(std::string& out, const Ranked& one, std::string_view score_name) {
  out.append(R"({"index":)");
  append_json_integer(out, static_cast<std::int64_t>(one.index));
  out.append(R"(,")").append(score_name).append(R"(":)");
  append_json_float(out, one.score);
}

}  // namespace

void apply_score_function(bundle::ScoreFunction function, std::span<float> numbers) {
  switch (function) {
    case bundle::ScoreFunction::kNone:
      return;
    case bundle::ScoreFunction::kSigmoid:
      for (float& number : numbers) number = 1.0f / (1.0f + std::exp(-number));
      return;
    case bundle::ScoreFunction::kSoftmax:
      if (!numbers.empty()) softmax(numbers);
      return;
  }
}

float late_interaction(std::span<const float> query, std::span<const float> text, std::size_t dimensions,
                       LateInteraction how) {
  const std::size_t query_tokens = query.size() / dimensions;
  const std::size_t text_tokens = text.size() / dimensions;
  if (query_tokens == 0 || text_tokens == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < query_tokens; ++i) {
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t j = 0; j < text_tokens; ++j) {
      const auto of_query = query.subspan(i * dimensions, dimensions);
      const auto of_text = text.subspan(j * dimensions, dimensions);
      largest = std::max(largest, std::inner_product(of_query.begin(), of_query.end(), of_text.begin(), 0.0F));
    }
    sum += static_cast<double>(largest);
  }
  return static_cast<float>(how == LateInteraction::kSum ? sum : sum / static_cast<double>(query_tokens));
}

std::vector<float> late_interactions(std::span<const std::vector<float>> rows, const bundle::Manifest& manifest) {
  const bool sums = manifest.late_interaction && !manifest.late_interaction->length_normalized;
  const LateInteraction how = sums ? LateInteraction::kSum : LateInteraction::kMean;
  std::vector<float> scores;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    scores.push_back(late_interaction(rows.back(), rows[i], manifest.token_dimensions(), how));
  }
  return scores;
}

std::vector<Ranked> ranked(std::span<const float> scores, std::size_t top) {
  std::vector<Ranked> results;
  results.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) results.push_back({i, scores[i]});
  std::stable_sort(results.begin(), results.end(), [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  if (results.size() > top) results.resize(top);
  return results;
}

std::string tei_rerank(std::span<const Ranked> results, std::span<const std::string> texts) {
  std::string out;
  append_list(out, results, [&](const Ranked& one) {
    append_index_and_score(out, one, "score");
    if (!texts.empty()) {
      out.append(R"(,"text":)");
      append_json_string(out, texts[one.index]);
    }
    out.push_back('}');
  });
  return out;
}

std::string cohere_rerank(const RerankAnswer& answer) {
  std::string out = R"({"id":)";
  append_json_string(out, answer.id);
  out.append(R"(,"model":)");
  append_json_string(out, answer.model);
  out.append(R"(,"results":)");
  append_list(out, answer.results, [&](const Ranked& one) {
    append_index_and_score(out, one, "relevance_score");
    if (!answer.documents.empty()) {
      out.append(R"(,"document":{"text":)");
      append_json_string(out, answer.documents[one.index]);
      out.push_back('}');
    }
    out.push_back('}');
  });
  out.append(R"(,"meta":{"api_version":{"version":")").append(answer.api_version);
  out.append(R"("},"billed_units":{"search_units":1}},"usage":{"total_tokens":)");
  append_json_integer(out, static_cast<std::int64_t>(answer.tokens));
  out.append(R"(,"prompt_tokens":)");
  append_json_integer(out, static_cast<std::int64_t>(answer.tokens));
  return out.append("}}");
}

std::string tei_predict(const Vectors& scores, std::span<const std::string> labels, bool is_list) {
  std::string out;
  if (!is_list) {
    append_labels(out, scores.row(0), labels);
    return out;
  }
  std::vector<std::size_t> rows(scores.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  append_list(out, rows, [&](std::size_t row) { append_labels(out, scores.row(row), labels); });
  return out;
}

std::string tei_embed_sparse(const Vectors& vectors) {
  std::vector<SparseVector> sparse(vectors.size());
  for (std::size_t row = 0; row < vectors.size(); ++row) {
    const std::span<const float> weights = vectors.row(row);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] != 0) sparse[row].emplace_hint(sparse[row].end(), i, weights[i]);
    }
  }
  return tei_embed_sparse(sparse);
}

std::string tei_embed_sparse(std::span<const SparseVector> vectors) {
  std::string out;
  append_list(out, vectors, [&](const SparseVector& words) {
    append_list(out, words, [&](const auto& word) {
      append_index_and_score(out, {word.first, word.second}, "value");
      out.push_back('}');
    });
  });
  return out;
}

std::string tei_embed_all(std::span<const std::vector<float>> rows, std::size_t dimensions) {
  std::string out;
  append_list(out, rows, [&](const std::vector<float>& values) {
    std::vector<std::span<const float>> tokens;
    for (std::size_t at = 0; at < values.size(); at += dimensions) {
      tokens.push_back(std::span<const float>(values).subspan(at, dimensions));
    }
    append_list(out, tokens, [&](std::span<const float> token) { append_json_floats(out, token); });
  });
  return out;
}

std::string tei_similarity(const Vectors& vectors) {
  const auto dot = [](std::span<const float> a, std::span<const float> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                              [](float x, float y) { return static_cast<double>(x) * y; });
  };
  std::vector<float> cosines;
  const std::span<const float> source = vectors.row(0);
  for (std::size_t i = 1; i < vectors.size(); ++i) {
    const std::span<const float> other = vectors.row(i);
    const double norms = std::sqrt(dot(source, source) * dot(other, other));
    cosines.push_back(static_cast<float>(norms > 0 ? dot(source, other) / norms : 0));
  }
  std::string out;
  append_json_floats(out, cosines);
  return out;
}

std::string tei_decode(std::span<const std::string> texts) {
  std::string out;
  append_list(out, texts, [&](const std::string& text) { append_json_string(out, text); });
  return out;
}

}  // namespace weir::serve::respond
