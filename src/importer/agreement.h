// How well a graph in a lower precision agrees with the same model in fp32. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {

/// Cosines between the two vectors of each text.
struct Agreement {
  std::size_t texts = 0;
  double mean_cosine = 0;
  double least_cosine = 0;

  /// Whether it is what `--precision auto` asks for of a precision.
  bool good(const std::string& precision) const;
  /// What that is: "0.997 on average and 0.985 at least".
  static std::string asked(const std::string& precision);
  /// "cosine to fp32 0.99812 on average, 0.99104 at least, on 33 texts"
  std::string text() const;
};

/// A model in a folder, before it is a bundle.
struct Candidate {
  std::string folder;
  bundle::Manifest manifest;
};

/// Computes built-in texts of many kinds with both. Errors as compute_golden.
Result<Agreement> compare_precisions(const Candidate& candidate, const Candidate& reference,
                                     const tokenizers::Tokenizer& tokenizer, const std::function<bool()>& cancelled);

}  // namespace weir::importer
