#include "loadgen/efficiency/efficiency.h"

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/machine.h"
#include "huggingface/json_object.h"
#include "kernels/peak/peak.h"

namespace weir::loadgen {
namespace {

constexpr std::uint32_t kLargest = 1u << 20;

Result<std::uint32_t> need(const huggingface::JsonObject& config, const char* key) {
  WEIR_ASSIGN_OR_RETURN(const auto value, config.count(key, kLargest));
  if (!value || *value == 0) return config.error(key, "is needed to count operations");
  return *value;
}

std::vector<const char*> loops_of(std::string_view precision) {
  if (precision == "int8") return {"amx_int8", "avx512_vnni", "avx_vnni"};
  if (precision == "bf16") return {"amx_bf16", "avx512_bf16"};
  return {"avx512", "avx2"};
}

}  // namespace

double ModelShape::operations(double tokens, double square_tokens) const {
  const double h = hidden;
  const double linear = 2 * (4 * h * h + 2 * h * intermediate);  // query, key, value, output; up and down
  return layers * (linear * tokens + 4 * h * square_tokens);
}

Result<ModelShape> read_model_shape(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  WEIR_ASSIGN_OR_RETURN(const auto config, huggingface::JsonObject::read(is_folder ? path + "/config.json" : path));
  ModelShape shape;
  WEIR_ASSIGN_OR_RETURN(shape.hidden, need(config, "hidden_size"));
  WEIR_ASSIGN_OR_RETURN(shape.layers, need(config, "num_hidden_layers"));
  WEIR_ASSIGN_OR_RETURN(shape.intermediate, need(config, "intermediate_size"));
  return shape;
}

Result<Peak> measure_peak(const std::string& precision) {
  const char* best = nullptr;
  double rate = 0;
  for (const char* name : loops_of(precision)) {
    const double measured = kernels::peak_operations_per_second(name);
    if (measured > rate) {
      rate = measured;
      best = name;
    }
  }
  if (best == nullptr) {
    return Error(ErrorKind::kUnsupported, "--peak: no loop measures " + precision + " on this CPU", "--peak");
  }
  const std::size_t cores = detect_machine().allowed_cores().size();
  Peak peak;
  peak.operations_per_second = rate * static_cast<double>(cores);
  peak.basis = precision + " peak of " + std::to_string(cores) + " cores, " + best + ": " +
               std::to_string(static_cast<long>(peak.operations_per_second / 1e9)) + " GOP/s";
  return peak;
}

}  // namespace weir::loadgen
