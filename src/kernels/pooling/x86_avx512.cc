#include "kernels/pooling/pooling_generic.h"

namespace weir::kernels {

void pooling_avx512(const Pooling& args);
void pooling_avx512(const Pooling& args) { pooling_generic(args); }

}  // namespace weir::kernels
