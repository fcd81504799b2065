// What a config.json says about rotary positions, in transformers' newer form (`rope_parameters`) and the older ones.
// Pure functions; errors as config.h.
#pragma once

#include "base/result.h"
#include "huggingface/json_object.h"

namespace weir::families {

struct RotaryConfig {
  double theta = 0;
  double stretch = 1;  ///< As positions.h's rotary_frequencies() takes it.
};

/// `rope_parameters.rope_theta`, or `theta_key`, or `otherwise`. kUnsupported names a kind of scaling.
Result<RotaryConfig> read_rotary(const huggingface::JsonObject& config, const char* theta_key, double otherwise);

/// The same from one entry of a `rope_parameters` that has one per kind of layer.
Result<double> rotary_theta(const huggingface::JsonObject& parameters, const char* key, double otherwise);

}  // namespace weir::families
