#include "base/cosine.h"

#include <cmath>
#include <cstddef>

namespace weir {

double cosine(std::span<const float> a, std::span<const float> b) {
  double dot = 0;
  double squares_a = 0;
  double squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    squares_a += static_cast<double>(a[i]) * a[i];
    squares_b += static_cast<double>(b[i]) * b[i];
  }
  if (squares_a == 0 || squares_b == 0) return squares_a == squares_b ? 1 : dot;  // dot: 0, or NaN beside a NaN
  return dot / std::sqrt(squares_a * squares_b);
}

}  // namespace weir
