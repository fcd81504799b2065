// One vector per text (kernels/pooling).
//
//   hidden [tokens, hidden], offsets int64 [texts + 1] → [texts, hidden]
//
// Attributes: pooling, one of mean, cls, max and last; normalize, 1 to divide each vector by its length.
#pragma once

#include <memory>

#include "kernels/pooling/pooling.h"
#include "ops/operator.h"

namespace weir::ops {

class PackedPooling {
 public:
  static constexpr const char* kName = "PackedPooling";
  static constexpr Port kInputs[] = {kFloatPort, kInt64Port};
  static constexpr Port kOutputs[] = {kFloatPort};

  static Result<std::unique_ptr<PackedPooling>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  kernels::PoolingKind kind_ = kernels::PoolingKind::kMean;
  bool normalize_ = false;
  const kernels::PoolingVariant* variant_ = nullptr;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
