// Embeddings of word, position and segment, summed and layer-normalized (kernels/embedding).
//
//   input_ids, token_type_ids (optional) int64 [tokens], offsets int64 [texts + 1], words [vocabulary, hidden],
//   positions [positions, hidden] (optional), segments [types, hidden] (optional), gamma, beta [hidden] (optional:
//   else not normalized) → values and rows (rows.h)
//
// A text's positions begin at attribute `first_position`. Tokens that are `padding_id` (-1: none) take the position
// before it and do not count, as in RoBERTa.
#pragma once

#include <memory>

#include "kernels/embedding/embedding.h"
#include "ops/operator.h"
#include "ops/rows.h"

namespace weir::ops {

class PackedEmbedding {
 public:
  static constexpr const char* kName = "PackedEmbedding";
  static constexpr Port kInputs[] = {kInt64Port,           optional(kInt64Port), kInt64Port,
                                     kFloatPort,           optional(kFloatPort), optional(kFloatPort),
                                     optional(kFloatPort), optional(kFloatPort)};
  static constexpr auto& kOutputs = kRowsPorts;

  PackedEmbedding(RowsFormat rows, RowsWriter writer) : rows_(rows), writer_(writer) {}

  static Result<std::unique_ptr<PackedEmbedding>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  Status read_tables(const Call& call, kernels::Embedding& args, std::size_t longest_text) const;
  Status read_positions(const Call& call, kernels::Embedding& args, std::size_t longest_text) const;

  RowsFormat rows_;
  RowsWriter writer_;
  float epsilon_ = 0;
  std::size_t first_position_ = 0;
  std::int64_t padding_id_ = -1;
  const kernels::EmbeddingVariant* variant_ = nullptr;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
