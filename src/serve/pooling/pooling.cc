#include "serve/pooling/pooling.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

namespace weir::serve::pooling {
namespace {

constexpr double kSmallestNorm = 1e-12;
constexpr std::size_t kBlock = 256;  ///< Dimensions summed at a time: 2 KiB of doubles on the stack.

/// The sum of token vectors, each as often as `weighted` says (the i-th i times, or once), divided by `divisor`.
void mean(std::span<const float> token_vectors, std::size_t hidden, bool weighted, double divisor,
          std::span<float> vector) {
  const std::size_t tokens = token_vectors.size() / hidden;
  for (std::size_t begin = 0; begin < vector.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, vector.size() - begin);
    double sums[kBlock] = {};
    for (std::size_t token = 0; token < tokens; ++token) {
      const float* values = token_vectors.data() + token * hidden + begin;
      const double weight = weighted ? static_cast<double>(token + 1) : 1.0;
      for (std::size_t i = 0; i < count; ++i) sums[i] += weight * static_cast<double>(values[i]);
    }
    for (std::size_t i = 0; i < count; ++i) vector[begin + i] = static_cast<float>(sums[i] / divisor);
  }
}

/// A comparison with NaN is false, so a maximum would step over it: the caller looks at the values first.
void max(std::span<const float> token_vectors, std::size_t hidden, std::span<float> vector) {
  std::copy_n(token_vectors.begin(), vector.size(), vector.begin());
  for (std::size_t at = hidden; at < token_vectors.size(); at += hidden) {
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = std::max(vector[i], token_vectors[at + i]);
  }
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

void normalize(std::span<float> vector) {
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * static_cast<double>(value);
  const double norm = std::max(std::sqrt(squares), kSmallestNorm);
  for (float& value : vector) value = static_cast<float>(static_cast<double>(value) / norm);
}

std::string allowed_dimensions(const bundle::Manifest& manifest) {
  if (manifest.matryoshka_dimensions.empty()) return "1 to " + std::to_string(manifest.dimensions);
  std::string text;
  for (const auto length : manifest.matryoshka_dimensions) text += (text.empty() ? "" : ", ") + std::to_string(length);
  return text;
}

bool has_dimensions(const bundle::Manifest& manifest, std::uint32_t dimensions) {
  if (dimensions == manifest.dimensions) return true;
  const auto& lengths = manifest.matryoshka_dimensions;
  if (lengths.empty()) return dimensions > 0 && dimensions < manifest.dimensions;
  return std::find(lengths.begin(), lengths.end(), dimensions) != lengths.end();
}

}  // namespace

Result<Rule> rule_for(const EmbedOptions& options, const bundle::Manifest& manifest) {
  Rule rule;
  rule.pooling = manifest.pooling;
  rule.normalize = options.normalize.value_or(manifest.normalize);
  rule.dimensions = options.dimensions.value_or(manifest.dimensions);
  if (!has_dimensions(manifest, rule.dimensions)) {
    return Error(ErrorKind::kInvalidArgument,
                 "dimensions is " + std::to_string(rule.dimensions) + "; model '" + manifest.name +
                     "' gives: " + allowed_dimensions(manifest),
                 "dimensions");
  }
  return rule;
}

Status pool_tokens(std::span<const float> token_vectors, std::size_t hidden, const Rule& rule,
                   std::span<float> vector) {
  assert(hidden > 0 && token_vectors.size() % hidden == 0);
  assert(vector.size() == rule.dimensions && vector.size() <= hidden);
  if (token_vectors.empty()) return Error(ErrorKind::kEmptyInput, "the text has no tokens");
  const std::size_t count = token_vectors.size() / hidden;
  const auto tokens = static_cast<double>(count);
  bool finite = true;
  switch (rule.pooling) {
    case bundle::Pooling::kMean:
      mean(token_vectors, hidden, false, tokens, vector);
      break;
    case bundle::Pooling::kMeanSqrtLength:
      mean(token_vectors, hidden, false, std::sqrt(tokens), vector);
      break;
    case bundle::Pooling::kWeightedMean:
      mean(token_vectors, hidden, true, tokens * (tokens + 1) / 2, vector);
      break;
    case bundle::Pooling::kCls:
      std::copy_n(token_vectors.begin(), vector.size(), vector.begin());
      break;
    case bundle::Pooling::kMax:
      finite = all_finite(token_vectors);
      max(token_vectors, hidden, vector);
      break;
    case bundle::Pooling::kLast:
      std::copy_n(token_vectors.end() - static_cast<std::ptrdiff_t>(hidden), vector.size(), vector.begin());
      break;
  }
  if (!finite || !all_finite(vector)) {
    return Error(ErrorKind::kBackend, "the model computed NaN or Inf for this text");
  }
  if (rule.normalize) normalize(vector);
  return {};
}

Status pool_row(const HiddenRows& hidden, std::size_t row, std::size_t tokens, const Rule& rule,
                std::span<float> vector) {
  assert(row < hidden.rows);
  if (hidden.has_text_vectors()) {
    Rule as_it_is = rule;
    as_it_is.pooling = bundle::Pooling::kCls;
    return pool_tokens(hidden.values.subspan(row * hidden.hidden, hidden.hidden), hidden.hidden, as_it_is, vector);
  }
  return pool_tokens(hidden.tokens_of(row, tokens), hidden.numbers_per_token(), rule, vector);
}

TokenColumns columns_for(Task task, const bundle::Manifest& manifest, bool is_query) {
  if (manifest.late_interaction) {
    TokenColumns all{0, manifest.dimensions, manifest.normalize, false};
    if (!is_query) all.skipped_tokens = manifest.late_interaction->skipped_tokens;
    return all;
  }
  if (task == Task::kSparse) return {manifest.token_width() - 1, 1, false, false};
  if (manifest.multi_vector_dimensions == 0) return {0, manifest.dimensions, false, false};
  const std::size_t before = manifest.token_width() - manifest.more_numbers();
  return {before, manifest.multi_vector_dimensions, true, true};
}

Status token_rows(const HiddenRows& hidden, std::size_t row, std::span<const std::int32_t> ids,
                  const TokenColumns& columns, std::vector<float>& vectors) {
  const std::size_t width = hidden.numbers_per_token();
  assert(row < hidden.rows && columns.first + columns.count <= width);
  const auto real = hidden.tokens_of(row, ids.size());
  const auto is_skipped = [&](std::int32_t id) {
    const auto& skipped = columns.skipped_tokens;
    return std::find(skipped.begin(), skipped.end(), static_cast<std::uint32_t>(id)) != skipped.end();
  };
  const std::size_t skipped = columns.skip_first_token ? 1 : 0;
  vectors.clear();
  for (std::size_t token = skipped; token < ids.size(); ++token) {
    if (is_skipped(ids[token])) continue;
    const auto wanted = real.subspan(token * width + columns.first, columns.count);
    vectors.insert(vectors.end(), wanted.begin(), wanted.end());
    if (columns.normalize) normalize(std::span(vectors).last(columns.count));
  }
  if (!all_finite(vectors)) return Error(ErrorKind::kBackend, "the model computed NaN or Inf for this text");
  return {};
}

void WindowJoiner::begin(std::span<const float> vector, std::size_t tokens) {
  const double weight = pooling_ == WindowPooling::kMean ? static_cast<double>(tokens) : 1.0;
  for (std::size_t i = 0; i < vector.size(); ++i) sums_[i] = weight * static_cast<double>(vector[i]);
  tokens_ = weight;
}

void WindowJoiner::add(std::span<const float> vector, std::size_t tokens) {
  const auto weight = static_cast<double>(tokens);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const auto value = static_cast<double>(vector[i]);
    sums_[i] = pooling_ == WindowPooling::kMean ? sums_[i] + weight * value : std::max(sums_[i], value);
  }
  if (pooling_ == WindowPooling::kMean) tokens_ += weight;
}

void WindowJoiner::finish(bool normalized, std::span<float> vector) const {
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = static_cast<float>(sums_[i] / tokens_);
  if (normalized) normalize(vector);
}

}  // namespace weir::serve::pooling
