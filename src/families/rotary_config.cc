#include "families/rotary_config.h"

#include <string>

namespace weir::families {

using huggingface::JsonObject;

namespace {

/// GTE's way to longer texts than it was trained on; everybody else's are refused.
Result<double> read_stretch(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto scaling, config.object("rope_scaling"));
  if (!scaling) return 1.0;
  const char* key = scaling->has("rope_type") ? "rope_type" : "type";
  WEIR_ASSIGN_OR_RETURN(const auto kind, scaling->text(key));
  if (kind.value_or("default") == "default") return 1.0;
  if (*kind != "ntk") {
    return scaling->error(key, "'" + *kind + "' is not supported; weir has ntk", ErrorKind::kUnsupported);
  }
  WEIR_ASSIGN_OR_RETURN(const auto factor, scaling->number("factor"));
  if (!factor || !(*factor >= 1 && *factor <= 1024)) return scaling->error("factor", "must be from 1 to 1024");
  return *factor;
}

}  // namespace

Result<double> rotary_theta(const JsonObject& parameters, const char* key, double otherwise) {
  WEIR_ASSIGN_OR_RETURN(const auto kind, parameters.text("rope_type"));
  if (kind.value_or("default") != "default") {
    return parameters.error("rope_type", "'" + *kind + "' is not supported; weir has default", ErrorKind::kUnsupported);
  }
  WEIR_ASSIGN_OR_RETURN(const auto theta, parameters.number(key));
  if (theta && !(*theta > 1 && *theta < 1e12)) return parameters.error(key, "must be from 1 to 1e12");
  return theta.value_or(otherwise);
}

Result<RotaryConfig> read_rotary(const JsonObject& config, const char* theta_key, double otherwise) {
  RotaryConfig rotary;
  WEIR_ASSIGN_OR_RETURN(const auto parameters, config.object("rope_parameters"));
  if (parameters) {
    WEIR_ASSIGN_OR_RETURN(rotary.theta, rotary_theta(*parameters, "rope_theta", otherwise));
  } else {
    WEIR_ASSIGN_OR_RETURN(rotary.theta, rotary_theta(config, theta_key, otherwise));
  }
  WEIR_ASSIGN_OR_RETURN(rotary.stretch, read_stretch(config));
  return rotary;
}

}  // namespace weir::families
