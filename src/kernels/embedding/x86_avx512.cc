#include "kernels/embedding/embedding_generic.h"

namespace weir::kernels {

void embedding_avx512(const Embedding& args);
void embedding_avx512(const Embedding& args) { embedding_generic(args); }

}  // namespace weir::kernels
