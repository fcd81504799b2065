#include "kernels/layer_norm/layer_norm_generic.h"

namespace weir::kernels {

void layer_norm_avx2(const LayerNorm& args);
void layer_norm_avx2(const LayerNorm& args) { layer_norm_generic(args); }

}  // namespace weir::kernels
