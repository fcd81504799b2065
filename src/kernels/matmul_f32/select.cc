#include "kernels/isa/isa.h"
#include "kernels/matmul_f32/matmul_f32.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required)                                                         \
  void matmul_f32_run_##name(const MatmulF32&, IndexRange, float*);                          \
  void matmul_f32_products_##name(const MatmulF32&, IndexRange, IndexRange, UnfinishedRows); \
  void matmul_f32_finish_##name(const MatmulF32&, IndexRange, UnfinishedRows);
#include "kernels/matmul_f32/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr MatmulF32Variant kVariants[] = {
#define WEIR_VARIANT(name, required) \
  {#name, required, matmul_f32_run_##name, matmul_f32_products_##name, matmul_f32_finish_##name},
#include "kernels/matmul_f32/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const MatmulF32Variant> matmul_f32_variants() { return kVariants; }

const MatmulF32Variant& choose_matmul_f32(cpu::Features features) {
  return choose_variant(matmul_f32_variants(), features);
}

}  // namespace weir::kernels
