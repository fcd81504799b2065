// How well a graph in a lower precision agrees with the same model in fp32, measured as its task needs it. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {

/// What agreement means for a model.
enum class Measure {
  kCosine,       ///< Of vectors: those of texts, and of each text's tokens or words where the model gives such.
  kConcordance,  ///< Of scores of pairs: Lin's coefficient, 1 where all are the same, 0 where they are unrelated.
  kLabels,       ///< Of texts' or tokens' labels: how many get the same best one, and how far probabilities are apart.
};
Measure measure_of(bundle::Task task);

struct Agreement {
  Measure measure = Measure::kCosine;
  std::size_t texts = 0;
  // kCosine
  double mean_cosine = 0;
  double least_cosine = 0;
  // kConcordance
  double concordance = 0;
  // kLabels. Another label than the best one counts as the same where fp32 finds it as likely within 0.01.
  double same_label = 0;       ///< The share of texts, or tokens.
  double mean_difference = 0;  ///< Of a label's probability.

  /// Whether it is what `--precision auto` asks for of a precision.
  bool good(const std::string& precision) const;
  /// What that is: "a cosine of 0.997 on average and 0.985 at least".
  std::string asked(const std::string& precision) const;
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
