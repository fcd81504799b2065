// Cosine of the angle between two vectors: how far two computations of one text agree.
#pragma once

#include <span>

namespace weir {

/// a · b / (|a| |b|), summed in double. `a` and `b` have the same length. A vector of zeros agrees with another one (1)
/// and with nothing else (0); NaN in either makes NaN.
[[nodiscard]] double cosine(std::span<const float> a, std::span<const float> b);

}  // namespace weir
