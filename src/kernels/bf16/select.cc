#include "kernels/bf16/bf16_rows.h"
#include "kernels/isa/isa.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required) void bf16_rows_##name(const Bf16Rows& args);
#include "kernels/bf16/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr Bf16RowsVariant kVariants[] = {
#define WEIR_VARIANT(name, required) {#name, required, bf16_rows_##name},
#include "kernels/bf16/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const Bf16RowsVariant> bf16_rows_variants() { return kVariants; }

const Bf16RowsVariant& choose_bf16_rows(cpu::Features features) {
  return choose_variant(bf16_rows_variants(), features);
}

}  // namespace weir::kernels
