// The oracle, and the variant of CPUs without vectors: the formulas of the header, one element at a time.
#include <cmath>
#include <limits>

#include "kernels/quantize/quantize_rows.h"

namespace weir::kernels {
namespace {

struct Bounds {
  float greatest = 0.0f;
  float least = 0.0f;
  bool finite = true;
};

Bounds bounds(const float* in, std::size_t columns) {
  Bounds result;
  for (std::size_t c = 0; c < columns; ++c) {
    if (!std::isfinite(in[c])) result.finite = false;
    if (in[c] > result.greatest) result.greatest = in[c];
    if (in[c] < result.least) result.least = in[c];
  }
  return result;
}

}  // namespace

void quantize_rows_portable(const QuantizeRows& args);
void quantize_rows_portable(const QuantizeRows& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    std::uint8_t* out = args.out + r * args.out_stride;
    const Bounds row = bounds(in, args.columns);
    const float half = row.greatest * 0.5f - row.least * 0.5f;
    const float center = row.greatest * 0.5f + row.least * 0.5f;
    const bool usable = row.finite && half >= 1e-30f;
    const float steps_per_unit = usable ? 127.0f / half : 0.0f;
    const float offset = 128.0f - center * steps_per_unit;
    for (std::size_t c = 0; c < padded_columns(args.columns); ++c) {
      const bool counts = usable && c < args.columns;
      out[c] = static_cast<std::uint8_t>(counts ? std::nearbyint(std::fma(in[c], steps_per_unit, offset)) : 128.0f);
    }
    args.scale[r] = {};
    if (usable) args.scale[r] = {half / 127.0f, center};
    if (!row.finite) args.scale[r].step = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace weir::kernels
