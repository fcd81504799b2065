// One vector per text from the vectors of its tokens, packed.
//
//   kMean  sum over the text's tokens / their number      kClass  the first token's
//   kMax   the largest value of each column               kLast   the last token's
//
// With `normalize` the vector is divided by its length (unless that is 0). A text without tokens gets zeros.
// Shapes: in [tokens][in_stride >= columns], out [texts][out_stride >= columns]. in and out must not overlap.
// Numeric class: consistent; sums run over the tokens in order. Threads: any number, on disjoint texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace weir::kernels {

enum class PoolingKind : std::uint8_t { kMean, kClass, kMax, kLast };

struct Pooling {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  const std::uint32_t* offsets = nullptr;
  std::size_t first_text = 0;
  std::size_t last_text = 0;  ///< one past
  std::size_t columns = 0;
  PoolingKind kind = PoolingKind::kMean;
  bool normalize = true;
  float* out = nullptr;
  std::size_t out_stride = 0;
};

struct PoolingVariant {
  const char* name;
  cpu::Features required;
  void (*run)(const Pooling&);
};

/// All variants of this build, best first.
std::span<const PoolingVariant> pooling_variants();

/// The best one that `features` can run.
const PoolingVariant& choose_pooling(cpu::Features features);

}  // namespace weir::kernels
