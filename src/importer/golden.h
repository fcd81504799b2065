// The vectors that a bundle carries so that serving can tell whether it computes the same. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {

/// A text, or a pair of texts for models that read two as one.
struct SampleText {
  std::string text;
  std::optional<std::string> pair = std::nullopt;
};

/// Short texts of several languages and one long one; of rerankers, such texts as answers to a question.
std::vector<SampleText> golden_texts(bundle::Task task);

struct GoldenRequest {
  std::string folder;  ///< With model.onnx.
  std::vector<SampleText> texts;
  std::function<bool()> cancelled;
};

/// What a text gives.
struct Numbers {
  std::vector<float> vector;  ///< [dimensions], pooled.
  /// Of models that give something per token, as serving takes it: labels, multi-vectors, words' weights.
  std::vector<std::vector<float>> per_token;
};

/// Runs the graph in the folder on each text alone and pools as the manifest says. Sets `manifest.dimensions`,
/// where it is 0, from what the graph gives. kBackend: NaN or Inf, or ONNX Runtime fails; kCorrupt: the output's shape
/// is not the manifest's; kCancelled.
Result<std::vector<Numbers>> compute_numbers(const GoldenRequest& request, bundle::Manifest& manifest,
                                             const tokenizers::Tokenizer& tokenizer);

/// Their vectors alone.
Result<std::vector<bundle::Golden>> compute_golden(const GoldenRequest& request, bundle::Manifest& manifest,
                                                   const tokenizers::Tokenizer& tokenizer);

}  // namespace weir::importer
