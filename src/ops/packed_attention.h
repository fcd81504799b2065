// Self-attention over packed texts (kernels/attention), its result in the form that the layer that follows takes.
//
//   query_key_value [tokens, 3 * hidden], offsets int64 [texts + 1] → rows (rows.h)
//
// Attributes: heads; scale, by which scores are multiplied; precision, "fp32" (the same bits everywhere) or "bf16"
// (faster where the CPU has AMX, elsewhere fp32).
#pragma once

#include <memory>

#include "kernels/attention/attention.h"
#include "ops/operator.h"
#include "ops/rows.h"

namespace weir::ops {

class PackedAttention {
 public:
  static constexpr const char* kName = "PackedAttention";
  static constexpr Port kInputs[] = {kFloatPort, kInt64Port};
  static constexpr auto& kOutputs = kRowsPorts;

  PackedAttention(RowsFormat rows, RowsWriter writer) : rows_(rows), writer_(writer) {}

  static Result<std::unique_ptr<PackedAttention>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  RowsFormat rows_;
  RowsWriter writer_;
  std::size_t heads_ = 1;
  float scale_ = 1;
  const kernels::AttentionVariant* variant_ = nullptr;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
