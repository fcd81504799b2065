#include "families/rotary_config.h"

#include <string>

namespace weir::families {

using huggingface::JsonObject;

namespace {

Status refuse_partial(const JsonObject& object) {
  const char* key = "partial_rotary_factor";
  WEIR_ASSIGN_OR_RETURN(const auto factor, object.number(key));
  if (factor.value_or(1) == 1) return {};
  return object.error(key, "is not 1: partly rotary positions are not supported", ErrorKind::kUnsupported);
}

/// The stretch that a `rope_scaling` or `rope_parameters` asks for.
Result<double> read_stretch(const JsonObject& scaling, RotaryScaling known) {
  WEIR_RETURN_IF_ERROR(refuse_partial(scaling));
  const char* key = scaling.has("rope_type") ? "rope_type" : "type";
  WEIR_ASSIGN_OR_RETURN(const auto kind, scaling.text(key));
  if (kind.value_or("default") == "default") return 1.0;
  if (*kind != "ntk" || known != RotaryScaling::kNtk) {
    const std::string those = known == RotaryScaling::kNtk ? "default and ntk" : "default";
    return scaling.error(key, "'" + *kind + "' is not supported; weir has " + those, ErrorKind::kUnsupported);
  }
  WEIR_ASSIGN_OR_RETURN(const auto factor, scaling.number("factor"));
  if (!factor || !(*factor >= 1 && *factor <= 1024)) return scaling.error("factor", "must be from 1 to 1024");
  return *factor;
}

Result<double> read_old_stretch(const JsonObject& config, RotaryScaling known) {
  WEIR_RETURN_IF_ERROR(refuse_partial(config));
  WEIR_ASSIGN_OR_RETURN(const auto scaling, config.object("rope_scaling"));
  if (!scaling) return 1.0;
  return read_stretch(*scaling, known);
}

}  // namespace

Result<double> read_theta(const JsonObject& object, const char* key, double otherwise) {
  WEIR_ASSIGN_OR_RETURN(const auto theta, object.number(key));
  if (theta && !(*theta > 1 && *theta < 1e12)) return object.error(key, "must be from 1 to 1e12");
  return theta.value_or(otherwise);
}

Status refuse_rotary_scaling(const JsonObject& config) {
  WEIR_RETURN_IF_ERROR(read_old_stretch(config, RotaryScaling::kNone));
  return {};
}

Result<double> layer_theta(const JsonObject& entry, double otherwise) {
  WEIR_RETURN_IF_ERROR(read_stretch(entry, RotaryScaling::kNone));
  return read_theta(entry, "rope_theta", otherwise);
}

Result<RotaryConfig> read_rotary(const JsonObject& config, const char* theta_key, double otherwise,
                                 RotaryScaling known) {
  RotaryConfig rotary;
  WEIR_ASSIGN_OR_RETURN(rotary.theta, read_theta(config, theta_key, otherwise));
  WEIR_ASSIGN_OR_RETURN(rotary.stretch, read_old_stretch(config, known));
  WEIR_ASSIGN_OR_RETURN(const auto parameters, config.object("rope_parameters"));
  if (!parameters) return rotary;
  WEIR_ASSIGN_OR_RETURN(rotary.theta, layer_theta(*parameters, rotary.theta));
  return rotary;
}

}  // namespace weir::families
