#include "kernels/peak/peak.h"

namespace weir::kernels {

void peak_avx512_bf16(std::int64_t iterations);
void peak_avx512_bf16(std::int64_t iterations) {
  // 24 accumulators, so that none waits for another; in assembly, so that no compiler spills one.
  __asm__ volatile(
      ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,30,31\n"
      "vpxord %%zmm\\n, %%zmm\\n, %%zmm\\n\n"
      ".endr\n"
      "1:\n"
      ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vdpbf16ps %%zmm31, %%zmm30, %%zmm\\n\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(iterations)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm30",
        "xmm31");
}

}  // namespace weir::kernels
