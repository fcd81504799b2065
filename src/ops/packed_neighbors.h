// Each token's neighbours beside it, for a linear layer to compute a convolution over tokens.
//
//   values [tokens, hidden], offsets int64 [texts + 1] → rows (rows.h) of width * hidden columns: the tokens from
//   (width - 1) / 2 before to as many after it, zeros where its text has none
//
// Attribute: width, odd.
#pragma once

#include <memory>

#include "ops/operator.h"
#include "ops/rows.h"

namespace weir::ops {

class PackedNeighbors {
 public:
  static constexpr const char* kName = "PackedNeighbors";
  static constexpr Port kInputs[] = {kFloatPort, kInt64Port};
  static constexpr auto& kOutputs = kRowsPorts;

  PackedNeighbors(RowsFormat rows, RowsWriter writer) : rows_(rows), writer_(writer) {}

  static Result<std::unique_ptr<PackedNeighbors>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  RowsFormat rows_;
  RowsWriter writer_;
  std::size_t width_ = 1;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
