#include "kernels/peak/peak.h"

namespace weir::kernels {

void peak_avx_vnni(std::int64_t iterations);
void peak_avx_vnni(std::int64_t iterations) {
  // 12 accumulators, so that none waits for another; in assembly, so that no compiler spills one.
  __asm__ volatile(
      ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,14,15\n"
      "vpxor %%ymm\\n, %%ymm\\n, %%ymm\\n\n"
      ".endr\n"
      "1:\n"
      ".irp n,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "%{vex%} vpdpbusd %%ymm15, %%ymm14, %%ymm\\n\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(iterations)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm14",
        "xmm15");
}

}  // namespace weir::kernels
