// Embedding and layer norm on F32x16; see embedding.h.
#pragma once

#include "kernels/embedding/embedding.h"
#include "kernels/layer_norm/layer_norm_generic.h"

namespace weir::kernels {
namespace {

/// out = the sum of the rows that are not null.
inline void sum_rows(const float* word, const float* position, const float* segment, float* out, std::size_t columns) {
  for_each_vector(columns, [&](std::size_t c, int lanes) WEIR_INLINED {
    F32x16 x = load_lanes(word + c, lanes);
    if (position != nullptr) x = add(x, load_lanes(position + c, lanes));
    if (segment != nullptr) x = add(x, load_lanes(segment + c, lanes));
    store_lanes(out + c, x, lanes);
  });
}

inline void embed_token(const Embedding& args, std::size_t token, std::size_t position) {
  const EmbeddingTables& tables = args.tables;
  const auto row = [&](const float* table, std::size_t index) {
    return table == nullptr ? nullptr : table + index * args.columns;
  };
  const std::size_t segment = args.segment_ids == nullptr ? 0 : static_cast<std::size_t>(args.segment_ids[token]);
  float* out = args.out + token * args.out_stride;
  sum_rows(row(tables.words, static_cast<std::size_t>(args.ids[token])),
           row(tables.positions, position + tables.first_position), row(tables.segments, segment), out, args.columns);
  RowBounds bounds;
  if (tables.layer_norm.gamma != nullptr) {
    const NormalizedRow self = {out, nullptr, out};
    normalize_rows(&self, 1, tables.layer_norm, args.columns, &bounds);
  } else if (args.quantized != nullptr) {
    bounds = row_bounds(out, args.columns);
  }
  if (args.quantized == nullptr) return;
  args.quantized_scale[token] = quantize_row(out, args.columns, bounds, args.quantized + token * args.quantized_stride);
}

inline void embedding_generic(const Embedding& args) {
  for (std::size_t text = args.first_text; text < args.last_text; ++text) {
    const std::size_t begin = args.offsets[text];
    for (std::size_t token = begin; token < args.offsets[text + 1]; ++token) embed_token(args, token, token - begin);
  }
}

}  // namespace
}  // namespace weir::kernels
