#include "kernels/isa/isa.h"
#include "kernels/matmul_q8/matmul_q8.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required)                                                       \
  void matmul_q8_run_##name(const MatmulQ8&, IndexRange, float*);                          \
  void matmul_q8_products_##name(const MatmulQ8&, IndexRange, IndexRange, UnfinishedRows); \
  void matmul_q8_finish_##name(const MatmulQ8&, IndexRange, UnfinishedRows);
#include "kernels/matmul_q8/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr MatmulQ8Variant kVariants[] = {
#define WEIR_VARIANT(name, required) \
  {#name, required, matmul_q8_run_##name, matmul_q8_products_##name, matmul_q8_finish_##name},
#include "kernels/matmul_q8/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const MatmulQ8Variant> matmul_q8_variants() { return kVariants; }

const MatmulQ8Variant& choose_matmul_q8(cpu::Features features) {
  return choose_variant(matmul_q8_variants(), features);
}

}  // namespace weir::kernels
