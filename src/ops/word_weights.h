// How much each word of a vocabulary matters in a text, as SPLADE has it: a linear layer from a token's vector to all
// words, of which only the largest logit over a text's tokens is kept.
//
//   hidden [tokens, hidden], offsets int64 [texts + 1], weights → [texts, channels] of log(1 + max(0, logit))
//
// The logits of all tokens are never there at once: some channels of some tokens are computed, taken into the maximum
// and forgotten. `weights` is an initializer that packed_weights/linear.h describes; `hidden` is rounded to its
// precision inside.
#pragma once

#include <memory>

#include "ops/linear.h"
#include "ops/operator.h"

namespace weir::ops {

template <class Format>
class WordWeights {
 public:
  static const char* const kName;
  static constexpr Port kInputs[] = {kFloatPort, kInt64Port, kWeightsPort};
  static constexpr Port kOutputs[] = {kFloatPort};

  static Result<std::unique_ptr<WordWeights>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  typename Format::Weights weights_;
  const kernels::MatmulVariant<typename Format::Args>* variant_ = nullptr;
  RowsWriter writer_{{}};
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
