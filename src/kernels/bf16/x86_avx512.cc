#include "kernels/bf16/bf16_rows_generic.h"

namespace weir::kernels {

void bf16_rows_avx512(const Bf16Rows& args);
void bf16_rows_avx512(const Bf16Rows& args) { bf16_rows_generic(args); }

}  // namespace weir::kernels
