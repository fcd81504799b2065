#include "kernels/attention/attention.h"

namespace weir::kernels {
namespace {

constexpr int kQueryRows = 6;
constexpr int kScoreVectors = 1;
constexpr int kAccumulators = 6;

}  // namespace
}  // namespace weir::kernels

#include "kernels/attention/attention_fp32.h"
#include "kernels/attention/int8_pairs.h"

namespace weir::kernels {

void attention_avx2(const Attention& args, const AttentionRange& range, float* scratch);
void attention_avx2(const Attention& args, const AttentionRange& range, float* scratch) {
  attention_fp32(args, range, scratch);
}

void attention_avx2_int8(const Attention& args, const AttentionRange& range, float* scratch);
void attention_avx2_int8(const Attention& args, const AttentionRange& range, float* scratch) {
  attention_int8<PairForm>(args, range, scratch);
}

}  // namespace weir::kernels
