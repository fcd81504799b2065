#include "kernels/isa/isa.h"
#include "kernels/layer_norm/layer_norm.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required) void layer_norm_##name(const LayerNorm& args);
#include "kernels/layer_norm/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr LayerNormVariant kVariants[] = {
#define WEIR_VARIANT(name, required) {#name, required, layer_norm_##name},
#include "kernels/layer_norm/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const LayerNormVariant> layer_norm_variants() { return kVariants; }

const LayerNormVariant& choose_layer_norm(cpu::Features features) {
  return choose_variant(layer_norm_variants(), features);
}

}  // namespace weir::kernels
