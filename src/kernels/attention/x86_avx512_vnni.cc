// Attention in integers by vpdpbusd and vpdpwssd on zmm registers.
#include "kernels/attention/int8_vnni512.h"

namespace weir::kernels {

void attention_avx512_vnni(const Attention& args, const AttentionRange& range, float* scratch);
void attention_avx512_vnni(const Attention& args, const AttentionRange& range, float* scratch) {
  attention_int8<VnniForm<Vnni512>>(args, range, scratch);
}

}  // namespace weir::kernels
