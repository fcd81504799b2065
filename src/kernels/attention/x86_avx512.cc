#include "kernels/attention/attention.h"

namespace weir::kernels {
namespace {

constexpr int kQueryRows = 12;
constexpr int kScoreVectors = 4;
constexpr int kAccumulators = 24;

}  // namespace
}  // namespace weir::kernels

#include "kernels/attention/attention_fp32.h"
#include "kernels/attention/int8_pairs.h"

namespace weir::kernels {

void attention_avx512(const Attention& args, const AttentionRange& range, float* scratch);
void attention_avx512(const Attention& args, const AttentionRange& range, float* scratch) {
  attention_fp32(args, range, scratch);
}

void attention_avx512_int8(const Attention& args, const AttentionRange& range, float* scratch);
void attention_avx512_int8(const Attention& args, const AttentionRange& range, float* scratch) {
  attention_int8<PairForm>(args, range, scratch);
}

}  // namespace weir::kernels
