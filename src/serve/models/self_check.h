// The self-test at load: the bundle's golden texts must give the vectors they gave at import. It catches what no check
// of files can: a runtime, a processor or an option that computes something else.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "serve/engine/engine.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve {

/// How far a vector may be from its golden one.
struct Tolerance {
  double min_cosine = 0.9999;
  double max_difference = 1e-3;  ///< Of any one element, times the largest where that is above 1.
};

/// By precision: what is quantized differs between processors, and between versions of weir, by more than fp32 does.
Tolerance tolerance(const bundle::Manifest& manifest);

/// Computes every golden text through tokenizer, engine and pooling, each as a batch of its own. kBackend when one
/// differs (the message tells the model, the text's index, the cosine and the largest difference) or cannot be
/// computed. `engine` has not been started.
Status self_test(engine::Engine& engine, const tokenizers::Tokenizer& tokenizer, const bundle::Bundle& bundle);

/// Compares two vectors of one length; the message says by how much they differ.
Status compare_vectors(std::span<const float> actual, std::span<const float> expected, const Tolerance& tolerance);

}  // namespace weir::serve
