// The inputs that a graph is looked at with. A graph's shapes, masks and positions are arithmetic on its inputs; with
// numbers for these, all of that becomes numbers too, whatever nodes it is made of, and only what depends on weights is
// left to be understood.
//
// A value; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "recognize/constant.h"

namespace weir::recognize {

/// Three texts of different lengths, padded on the right.
struct Sample {
  static constexpr std::int64_t kBatch = 3;
  static constexpr std::int64_t kSequence = 5;
  static constexpr std::int64_t kTokens = kBatch * kSequence;

  std::vector<double> ids;    ///< [batch, sequence], all different and none a special token's.
  std::vector<double> mask;   ///< 1 for a text's tokens, 0 for padding.
  std::vector<double> types;  ///< Of no pattern that something else has.

  Sample();
  bool is_token(std::int64_t batch, std::int64_t position) const {
    return mask[static_cast<std::size_t>(batch * kSequence + position)] != 0;
  }
  std::int64_t length(std::int64_t batch) const;
};

}  // namespace weir::recognize
