// What share of the machine's arithmetic a server turns into answers: operations that the model needs, over what the
// machine's fastest instructions could have done in the same time.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace weir::loadgen {

/// Of a transformer encoder.
struct ModelShape {
  std::uint32_t hidden = 0;
  std::uint32_t layers = 0;
  std::uint32_t intermediate = 0;

  /// Multiplications and additions, counted apart, for a text of `tokens`: linear layers and attention's two products.
  /// `tokens` and `square_tokens` may be means over texts.
  double operations(double tokens, double square_tokens) const;
};

/// From a config.json, or a folder that holds one. kNotFound, kCorrupt.
Result<ModelShape> read_model_shape(const std::string& path);

struct Peak {
  double operations_per_second = 0;  ///< Of all cores this process may use.
  std::string basis;                 ///< "int8 peak of 2 cores, amx_int8: 14,100 GOP/s"
};

/// Measures (a tenth of a second) the fastest loop of `precision`: "int8", "bf16" or "fp32". kUnsupported when this
/// build or CPU has none.
Result<Peak> measure_peak(const std::string& precision);

}  // namespace weir::loadgen
