#include "kernels/isa/isa.h"
#include "kernels/pooling/pooling.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required) void pooling_##name(const Pooling& args);
#include "kernels/pooling/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr PoolingVariant kVariants[] = {
#define WEIR_VARIANT(name, required) {#name, required, pooling_##name},
#include "kernels/pooling/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const PoolingVariant> pooling_variants() { return kVariants; }

const PoolingVariant& choose_pooling(cpu::Features features) { return choose_variant(pooling_variants(), features); }

}  // namespace weir::kernels
