#include "kernels/quantize/quantize_generic.h"

namespace weir::kernels {

void quantize_rows_avx2(const QuantizeRows& args);
void quantize_rows_avx2(const QuantizeRows& args) { quantize_rows_generic(args); }

}  // namespace weir::kernels
