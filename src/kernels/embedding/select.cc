#include "kernels/embedding/embedding.h"
#include "kernels/isa/isa.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required) void embedding_##name(const Embedding& args);
#include "kernels/embedding/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr EmbeddingVariant kVariants[] = {
#define WEIR_VARIANT(name, required) {#name, required, embedding_##name},
#include "kernels/embedding/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const EmbeddingVariant> embedding_variants() { return kVariants; }

const EmbeddingVariant& choose_embedding(cpu::Features features) {
  return choose_variant(embedding_variants(), features);
}

}  // namespace weir::kernels
