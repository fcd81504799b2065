#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>

#include "base/cosine.h"
#include "importer/rewrite.h"
#include "serve/pooling/pooling.h"
#include "serve/request/hidden_rows.h"
#include "session/session.h"

namespace weir::importer {
namespace {

/// Texts of token ids, padded to the longest.
struct TokenBatch {
  std::vector<std::size_t> lengths;
  std::size_t columns = 0;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> mask;
  std::vector<std::int64_t> types;
};

TokenBatch make_batch(std::vector<std::size_t> lengths, const Recognition& recognition, std::mt19937_64& random) {
  TokenBatch batch;
  for (std::size_t& length : lengths) length = std::min<std::size_t>(length, recognition.max_positions);
  batch.columns = *std::max_element(lengths.begin(), lengths.end());
  for (const std::size_t length : lengths) {
    for (std::size_t position = 0; position < batch.columns; ++position) {
      const bool is_token = position < length;
      std::uint64_t id = random() % recognition.vocabulary_size;
      // A pad token inside a text is for graphs that look for it no text at all.
      if (id == recognition.pad_token_id) id = (id + 1) % recognition.vocabulary_size;
      batch.ids.push_back(static_cast<std::int64_t>(is_token ? id : recognition.pad_token_id));
      batch.mask.push_back(is_token ? 1 : 0);
      batch.types.push_back(is_token && position >= length / 2 + 1 ? 1 : 0);
    }
  }
  batch.lengths = std::move(lengths);
  return batch;
}

std::vector<TokenBatch> make_batches(const Recognition& recognition) {
  std::mt19937_64 random(20);
  std::vector<TokenBatch> batches;
  for (const std::vector<std::size_t>& lengths : std::vector<std::vector<std::size_t>>{
           {1}, {2}, {7}, {16, 9, 3}, {33, 33, 12, 1}, {128}, {recognition.max_positions, 5}}) {
    batches.push_back(make_batch(lengths, recognition, random));
  }
  return batches;
}

/// The least cosine that a rewritten graph may have to an original of its kind, and the least mean. The rewritten one
/// is exact; an original in few bits is not: dynamic ones give other numbers in other batches, and scales that were
/// found beforehand clip what they had not seen.
struct Limits {
  double least = 0.99999;
  double mean = 0.99999;
};

Limits limits_for(const Recognition& recognition) {
  if (recognition.rounding == recognize::Rounding::kDynamic) return {0.7, 0.9};
  if (recognition.rounding == recognize::Rounding::kStatic) return {0.5, 0.8};
  if (recognition.rounding == recognize::Rounding::kPairs || recognition.is_half) return {0.998, 0.999};
  return {};
}

class Comparison {
 public:
  Comparison(const Recognition& recognition, const bundle::Manifest& manifest)
      : pools_(recognition.output.kind == bundle::Output::kTextVectors), manifest_(manifest) {}

  Status add(const TokenBatch& batch, const session::Tensor& original, const session::Tensor& rewritten) {
    const std::size_t hidden = manifest_.dimensions;
    const std::size_t tokens = batch.ids.size();
    const std::size_t expected = (pools_ ? batch.lengths.size() : tokens) * hidden;
    if (original.values().size() != expected || rewritten.values().size() != tokens * hidden) {
      return Error(ErrorKind::kUnsupported, "the original's output has another shape than the rewritten graph's");
    }
    const serve::HiddenRows rows{rewritten.values(), batch.lengths.size(), batch.columns, hidden};
    const serve::pooling::Rule rule{manifest_.pooling, manifest_.normalize, manifest_.dimensions};
    std::vector<float> vector(hidden);
    for (std::size_t text = 0; text < batch.lengths.size(); ++text) {
      if (pools_) {
        WEIR_RETURN_IF_ERROR(serve::pooling::pool_row(rows, text, batch.lengths[text], rule, vector));
        take(cosine(original.values().subspan(text * hidden, hidden), vector));
        continue;
      }
      for (std::size_t position = 0; position < batch.lengths[text]; ++position) {
        const std::size_t at = (text * batch.columns + position) * hidden;
        take(cosine(original.values().subspan(at, hidden), rewritten.values().subspan(at, hidden)));
      }
    }
    return {};
  }

  RewriteAgreement agreement() const {
    RewriteAgreement result = agreement_;
    result.mean_cosine /= static_cast<double>(std::max<std::size_t>(result.rows, 1));
    return result;
  }

 private:
  void take(double similarity) {
    // NaN is the least of all.
    if (!(similarity >= agreement_.least_cosine)) agreement_.least_cosine = std::isnan(similarity) ? -1 : similarity;
    agreement_.mean_cosine += similarity;
    ++agreement_.rows;
  }

  bool pools_;
  const bundle::Manifest& manifest_;
  RewriteAgreement agreement_;
};

session::Batch session_batch(const TokenBatch& batch) {
  return {batch.lengths.size(), batch.columns, batch.ids, batch.mask, batch.types};
}

struct Runs {
  const Recognition& recognition;
  const Conversion& conversion;
  const ConversionRequest& request;

  Result<RewriteAgreement> compare_with(const std::string& original_path) const {
    const std::string& ours_path = request.folder + "/model.onnx";
    WEIR_ASSIGN_OR_RETURN(const auto original, session::Session::load(original_path, session::Options()));
    WEIR_ASSIGN_OR_RETURN(const auto rewritten, session::Session::load(ours_path, session::Options()));
    Comparison comparison(recognition, conversion.manifest);
    for (const TokenBatch& batch : make_batches(recognition)) {
      if (request.cancelled && request.cancelled()) return Error(ErrorKind::kCancelled, "interrupted");
      WEIR_ASSIGN_OR_RETURN(const auto theirs, original->run(session_batch(batch), recognition.output.name));
      WEIR_ASSIGN_OR_RETURN(const auto ours, rewritten->run(session_batch(batch), conversion.manifest.output_name));
      WEIR_RETURN_IF_ERROR(comparison.add(batch, theirs, ours));
    }
    return comparison.agreement();
  }

  /// A copy without the rounding of activations; empty where there is none.
  Result<std::string> without_rounding() const {
    if (recognition.rounding != recognize::Rounding::kPairs) return std::string();
    WEIR_ASSIGN_OR_RETURN(onnx::Model model, onnx::Model::read(request.source->onnx_path));
    if (!model.drop_activation_rounding()) return std::string();
    std::string path = recognition.source.checkpoint_folder + "/not_rounded.onnx";
    WEIR_ASSIGN_OR_RETURN(onnx::WeightsFile weights, onnx::WeightsFile::create(path + ".weights", request.cancelled));
    WEIR_RETURN_IF_ERROR(model.move_weights(weights));
    WEIR_RETURN_IF_ERROR(weights.finish());
    WEIR_RETURN_IF_ERROR(model.save(path));
    return path;
  }
};

}  // namespace

std::string RewriteAgreement::text() const {
  char buffer[128];
  std::snprintf(buffer, sizeof buffer, "least cosine to the original %.7f, mean %.7f, of %zu rows", least_cosine,
                mean_cosine, rows);
  std::string text = buffer;
  if (least_without_rounding) {
    std::snprintf(buffer, sizeof buffer, "; without its rounding of activations %.7f", *least_without_rounding);
    text += buffer;
  }
  return text;
}

Result<RewriteAgreement> check_rewrite(const Recognition& recognition, const Conversion& conversion,
                                       const ConversionRequest& request) {
  const Runs runs{recognition, conversion, request};
  WEIR_ASSIGN_OR_RETURN(RewriteAgreement agreement, runs.compare_with(request.source->onnx_path));
  RewriteAgreement decisive = agreement;
  WEIR_ASSIGN_OR_RETURN(const std::string not_rounded, runs.without_rounding());
  if (!not_rounded.empty()) {
    WEIR_ASSIGN_OR_RETURN(decisive, runs.compare_with(not_rounded));
    agreement.least_without_rounding = decisive.least_cosine;
  }
  const Limits limits = limits_for(recognition);
  if (decisive.least_cosine >= limits.least && decisive.mean_cosine >= limits.mean) return agreement;
  return Error(ErrorKind::kUnsupported,
               "what was recognized (" + recognition.description + ") computes something else: " + agreement.text());
}

}  // namespace weir::importer
