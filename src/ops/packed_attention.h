// Self-attention over packed texts (kernels/attention), its result quantized for the layer that follows.
//
//   query_key_value [tokens, 3 * hidden], offsets int64 [texts + 1] → rows u8, scales
//
// Attributes: heads; scale, by which scores are multiplied; precision, "fp32" (the same bits everywhere) or "bf16"
// (faster where the CPU has AMX, elsewhere fp32).
#pragma once

#include <memory>

#include "kernels/attention/attention.h"
#include "kernels/quantize/quantize_rows.h"
#include "ops/operator.h"

namespace weir::ops {

class PackedAttention {
 public:
  static constexpr const char* kName = "PackedAttention";
  static constexpr Port kInputs[] = {kFloatPort, kInt64Port};
  static constexpr Port kOutputs[] = {kBytesPort, kFloatPort};

  static Result<std::unique_ptr<PackedAttention>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  std::size_t heads_ = 1;
  float scale_ = 1;
  const kernels::AttentionVariant* variant_ = nullptr;
  const kernels::QuantizeRowsVariant* quantize_ = nullptr;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
