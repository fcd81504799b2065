// Decides when a server is warm: pure, so that the rule can be tested without one.
#pragma once

#include <cstdint>
#include <vector>

namespace weir::loadgen {

/// Steady when the numbers of answers in the last three steps differ from their mean by no more than a tenth, or than
/// three standard deviations of a random count of that size, and there were any.
class WarmUpRule {
 public:
  static constexpr std::size_t kSteps = 3;

  /// `answered` since the beginning of the load, at the end of each further step of the same length. True when steady.
  bool step(std::uint64_t answered);

 private:
  std::vector<std::uint64_t> totals_{0};
};

}  // namespace weir::loadgen
