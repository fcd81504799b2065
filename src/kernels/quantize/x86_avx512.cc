#include "kernels/quantize/quantize_generic.h"

namespace weir::kernels {

void quantize_rows_avx512(const QuantizeRows& args);
void quantize_rows_avx512(const QuantizeRows& args) { quantize_rows_generic(args); }

}  // namespace weir::kernels
