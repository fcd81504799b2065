// Attention in integers by the VEX forms of vpdpbusd and vpdpwssd.
#include "kernels/attention/attention.h"

namespace weir::kernels {
namespace {

constexpr int kQueryRows = 6;
constexpr int kScoreVectors = 1;
constexpr int kAccumulators = 6;

}  // namespace
}  // namespace weir::kernels

#include "kernels/attention/int8_pairs.h"

namespace weir::kernels {
namespace {

struct Vnni256 {
  static I32x16 dot_bytes(I32x16 sum, I32x16 x, I32x16 factor) {
    return {_mm256_dpbusd_avx_epi32(sum.low, x.low, factor.low),
            _mm256_dpbusd_avx_epi32(sum.high, x.high, factor.high)};
  }
  static I32x16 dot_pairs(I32x16 sum, I32x16 x, I32x16 factor) {
    return {_mm256_dpwssd_avx_epi32(sum.low, x.low, factor.low),
            _mm256_dpwssd_avx_epi32(sum.high, x.high, factor.high)};
  }
};

}  // namespace

void attention_avx_vnni(const Attention& args, const AttentionRange& range, float* scratch);
void attention_avx_vnni(const Attention& args, const AttentionRange& range, float* scratch) {
  attention_int8<VnniForm<Vnni256>>(args, range, scratch);
}

}  // namespace weir::kernels
