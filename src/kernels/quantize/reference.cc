// The oracle, and the variant of CPUs without vectors: the formulas of the header, one element at a time.
#include <cmath>
#include <limits>

#include "kernels/quantize/quantize_rows.h"

namespace weir::kernels {
namespace {

struct Magnitude {
  float peak = 0.0f;
  bool finite = true;
};

Magnitude magnitude(const float* in, std::size_t columns) {
  Magnitude result;
  for (std::size_t c = 0; c < columns; ++c) {
    if (!std::isfinite(in[c])) result.finite = false;
    if (std::fabs(in[c]) > result.peak) result.peak = std::fabs(in[c]);
  }
  return result;
}

}  // namespace

void quantize_rows_portable(const QuantizeRows& args);
void quantize_rows_portable(const QuantizeRows& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    std::uint8_t* out = args.out + r * args.out_stride;
    const Magnitude row = magnitude(in, args.columns);
    const bool usable = row.finite && row.peak >= 1e-30f;
    for (std::size_t c = 0; c < padded_columns(args.columns); ++c) {
      const float steps = usable && c < args.columns ? std::nearbyint(in[c] * (127.0f / row.peak)) : 0.0f;
      out[c] = static_cast<std::uint8_t>(static_cast<int>(steps) + 128);
    }
    args.scale[r] = !row.finite ? std::numeric_limits<float>::quiet_NaN() : usable ? row.peak / 127.0f : 0.0f;
  }
}

}  // namespace weir::kernels
