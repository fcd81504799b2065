#include "serve/models/self_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/cosine.h"
#include "serve/pooling/pooling.h"
#include "serve/request/late_interaction.h"

namespace weir::serve {
namespace {

Result<std::vector<float>> embed(engine::Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                 const bundle::Manifest& manifest, const bundle::Golden& golden) {
  WEIR_ASSIGN_OR_RETURN(const tokenizers::Encoding encoding,
                        encode_alone(tokenizer, manifest, golden.text, golden.pair));
  WEIR_ASSIGN_OR_RETURN(const HiddenRows rows, engine.compute({&encoding, 1}));
  WEIR_ASSIGN_OR_RETURN(const pooling::Rule rule, pooling::rule_for({}, manifest));
  std::vector<float> vector(rule.dimensions);
  WEIR_RETURN_IF_ERROR(pooling::pool_row(rows, 0, encoding.ids.size(), rule, vector));
  return vector;
}

}  // namespace

Tolerance tolerance(const bundle::Manifest& manifest) {
  if (manifest.precision == "fp32") return {};
  // A sum that is rounded in another way moves some values by a whole step of 8 bits: a kernel that is as good as the
  // one at import gave cosines down to 0.9975 on all-MiniLM-L6-v2.
  if (manifest.precision == "int8") return {0.985, 0.1};
  return {0.999, 0.05};
}

Status compare_vectors(std::span<const float> actual, std::span<const float> expected, const Tolerance& tolerance) {
  if (actual.size() != expected.size()) {
    return Error(ErrorKind::kBackend,
                 "has " + std::to_string(actual.size()) + " numbers instead of " + std::to_string(expected.size()));
  }
  double difference = 0;
  double largest = 1;  // Numbers that are not parts of a normalized vector may be large, and differ by more.
  for (std::size_t i = 0; i < actual.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(actual[i]) - expected[i]));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  const double similarity = cosine(actual, expected);
  // Written so that NaN fails.
  if (similarity >= tolerance.min_cosine && difference <= tolerance.max_difference * largest) return {};
  char text[160];
  std::snprintf(text, sizeof text, "cosine %.6f (at least %.6f), largest difference %.6f (at most %.6f)", similarity,
                tolerance.min_cosine, difference, tolerance.max_difference * largest);
  return Error(ErrorKind::kBackend, text);
}

Status self_test(engine::Engine& engine, const tokenizers::Tokenizer& tokenizer, const bundle::Bundle& bundle) {
  for (std::size_t i = 0; i < bundle.golden.size(); ++i) {
    const auto& golden = bundle.golden[i];
    const auto vector = embed(engine, tokenizer, bundle.manifest, golden);
    const Status same =
        vector.ok() ? compare_vectors(*vector, golden.vector, tolerance(bundle.manifest)) : Status(vector.error());
    if (same.ok()) continue;
    return Error(ErrorKind::kBackend,
                 "self-test of model '" + bundle.manifest.name + "' failed at golden text " + std::to_string(i) + ": " +
                     same.error().message + "; this machine computes other vectors than the import did: import the " +
                     "model again here, or report it with the output of `weir doctor`",
                 bundle.folder + "/golden.json");
  }
  return {};
}

}  // namespace weir::serve
