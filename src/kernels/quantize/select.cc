#include "kernels/isa/isa.h"
#include "kernels/quantize/quantize_rows.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required) void quantize_rows_##name(const QuantizeRows& args);
#include "kernels/quantize/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr QuantizeRowsVariant kVariants[] = {
#define WEIR_VARIANT(name, required) {#name, required, quantize_rows_##name},
#include "kernels/quantize/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const QuantizeRowsVariant> quantize_rows_variants() { return kVariants; }

const QuantizeRowsVariant& choose_quantize_rows(cpu::Features features) {
  return choose_variant(quantize_rows_variants(), features);
}

}  // namespace weir::kernels
