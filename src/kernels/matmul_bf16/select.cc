#include "kernels/isa/isa.h"
#include "kernels/matmul_bf16/matmul_bf16.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required)                                                           \
  void matmul_bf16_run_##name(const MatmulBf16&, IndexRange, float*);                          \
  void matmul_bf16_products_##name(const MatmulBf16&, IndexRange, IndexRange, UnfinishedRows); \
  void matmul_bf16_finish_##name(const MatmulBf16&, IndexRange, UnfinishedRows);
#include "kernels/matmul_bf16/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr MatmulBf16Variant kVariants[] = {
#define WEIR_VARIANT(name, required) \
  {#name, required, matmul_bf16_run_##name, matmul_bf16_products_##name, matmul_bf16_finish_##name},
#include "kernels/matmul_bf16/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const MatmulBf16Variant> matmul_bf16_variants() { return kVariants; }

const MatmulBf16Variant& choose_matmul_bf16(cpu::Features features) {
  return choose_variant(matmul_bf16_variants(), features);
}

}  // namespace weir::kernels
