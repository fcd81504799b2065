#include "recognize/sample.h"

namespace weir::recognize {

Sample::Sample() {
  constexpr std::int64_t kLengths[kBatch] = {5, 2, 3};
  for (std::int64_t token = 0; token < kTokens; ++token) {
    ids.push_back(static_cast<double>(1009 + 13 * token));
    mask.push_back(token % kSequence < kLengths[token / kSequence] ? 1 : 0);
  }
  types = {0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0};
}

std::int64_t Sample::length(std::int64_t batch) const {
  std::int64_t count = 0;
  for (std::int64_t position = 0; position < kSequence; ++position) count += is_token(batch, position) ? 1 : 0;
  return count;
}

}  // namespace weir::recognize
