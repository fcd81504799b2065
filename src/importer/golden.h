// The vectors that a bundle carries so that serving can tell whether it computes the same. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {

/// Short texts of several languages and one long one.
std::vector<std::string> golden_texts();

struct GoldenRequest {
  std::string folder;  ///< With model.onnx.
  std::vector<std::string> texts;
  std::function<bool()> cancelled;
};

/// Runs the graph in the folder on each text alone and pools as the manifest says. Sets `manifest.dimensions`,
/// where it is 0, from what the graph gives. kBackend: NaN or Inf, or ONNX Runtime fails; kCorrupt: the output's shape
/// is not the manifest's; kCancelled.
Result<std::vector<bundle::Golden>> compute_golden(const GoldenRequest& request, bundle::Manifest& manifest,
                                                   const tokenizers::Tokenizer& tokenizer);

}  // namespace weir::importer
