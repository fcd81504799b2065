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

/// Ways to longer texts than a model was trained on that its family knows; all others are refused.
enum class RotaryScaling { kNone, kNtk };

/// `rope_parameters.rope_theta`, or `theta_key`, or `otherwise`. kUnsupported names a kind of scaling that the family
/// does not know, and positions that rotate a part of a head only, in whichever form they stand.
Result<RotaryConfig> read_rotary(const huggingface::JsonObject& config, const char* theta_key, double otherwise,
                                 RotaryScaling known);

/// Refuses what read_rotary() would, of a config whose thetas stand elsewhere: `rope_scaling` and
/// `partial_rotary_factor`.
Status refuse_rotary_scaling(const huggingface::JsonObject& config);

/// The theta in one entry of a `rope_parameters` that has one per kind of layer; refuses as read_rotary() does.
Result<double> layer_theta(const huggingface::JsonObject& entry, double otherwise);

/// A number above 1, or `otherwise`.
Result<double> read_theta(const huggingface::JsonObject& object, const char* key, double otherwise);

}  // namespace weir::families
