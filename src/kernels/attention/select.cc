#include <algorithm>

#include "kernels/attention/attention.h"
#include "kernels/isa/isa.h"

namespace weir::kernels {

#define WEIR_VARIANT(name, required, precision) \
  void attention_##name(const Attention& args, const AttentionRange& range, float* scratch);
#include "kernels/attention/variants.inc"
#undef WEIR_VARIANT

namespace {
constexpr AttentionVariant kVariants[] = {
#define WEIR_VARIANT(name, required, precision) {#name, required, AttentionPrecision::precision, attention_##name},
#include "kernels/attention/variants.inc"
#undef WEIR_VARIANT
};
}  // namespace

std::span<const AttentionVariant> attention_variants() { return kVariants; }

const AttentionVariant& choose_attention(cpu::Features features, AttentionPrecision precision) {
  const std::span<const AttentionVariant> variants = attention_variants();
  const auto first_of = [&](AttentionPrecision wanted) {
    return std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.precision == wanted; });
  };
  if (precision == AttentionPrecision::kInt8) {
    return choose_variant(std::span(first_of(precision), first_of(AttentionPrecision::kBf16)), features);
  }
  return choose_variant(std::span(first_of(precision), variants.end()), features);
}

std::size_t attention_scratch_floats(std::size_t longest_text, std::size_t head_size, const AttentionOptions& options) {
  const std::size_t tokens = (longest_text + 63) / 64 * 64 + 16;
  const std::size_t columns = (head_size + 31) / 32 * 32;
  constexpr std::size_t kScoreRows = 16;
  const std::size_t packed = 4 * tokens * columns;  // rotated q and k, packed keys; or q, k, v in bf16
  const std::size_t scores = 2 * kScoreRows * tokens;
  const std::size_t block = 2 * kScoreRows * columns + kScoreRows * 16;  // queries and sums
  // Scores by position: of all keys, and of a block of queries.
  const std::size_t buckets = options.buckets == nullptr ? 0 : std::min(options.position_stride, 2 * tokens + 32);
  const std::size_t positions = (tokens + kScoreRows) * buckets;
  constexpr std::size_t kAlignment = 16;
  return packed + scores + block + positions + kAlignment;
}

}  // namespace weir::kernels
