// Layer normalization of rows, with a residual added first where there is one (kernels/layer_norm).
//
//   values [tokens, hidden], residual [tokens, hidden] (optional), gamma, beta [hidden] → rows (rows.h)
//
// Attribute: epsilon. The values that are normalized stay the caller's: models that normalize before each part add to
// them later.
#pragma once

#include <memory>

#include "kernels/layer_norm/layer_norm.h"
#include "ops/operator.h"
#include "ops/rows.h"

namespace weir::ops {

class PackedLayerNorm {
 public:
  static constexpr const char* kName = "PackedLayerNorm";
  static constexpr Port kInputs[] = {kFloatPort, optional(kFloatPort), kFloatPort, kFloatPort};
  static constexpr auto& kOutputs = kRowsPorts;

  PackedLayerNorm(RowsFormat rows, RowsWriter writer) : rows_(rows), writer_(writer) {}

  static Result<std::unique_ptr<PackedLayerNorm>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  Result<kernels::LayerNorm> read(const Call& call) const;

  RowsFormat rows_;
  RowsWriter writer_;
  float epsilon_ = 0;
  const kernels::LayerNormVariant* variant_ = nullptr;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
