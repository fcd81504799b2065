// A bundle for tests of the whole path, small enough to know every vector by heart: a token's hidden state is its row
// of a table, whatever stands beside it, multiplied by the identity as often as asked so that computing takes a while.
// The tokenizer is that of tests/data/tiny-bert. Of one word, "night", the row is NaN.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve {

struct LookupModel {
  std::string name = "lookup";
  std::size_t hidden = 16;
  int multiplications = 0;  ///< By the identity [hidden, hidden].
  std::uint32_t max_tokens = 64;
  bool wrong_golden = false;  ///< The self-test fails.
};

/// A model of some milliseconds for each text, on one core.
LookupModel slow_lookup_model();

/// Writes the bundle into `folder`, which exists.
Status write_lookup_bundle(const std::string& folder, const LookupModel& model);

/// The text's normalized vector. The text is truncated to the model's tokens.
std::vector<float> lookup_vector(const LookupModel& model, const tokenizers::Tokenizer& tokenizer,
                                 const std::string& text);

std::unique_ptr<tokenizers::Tokenizer> lookup_tokenizer();

}  // namespace weir::serve
