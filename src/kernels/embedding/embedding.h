// The first layer of an encoder on packed tokens: sum of the embeddings of word, position and segment, then layer norm.
//
//   x[i] = words[ids[i]] + positions[position(i) + first_position] + segments[segment_ids[i]],  out[i] =
//   layer_norm(x[i]), or x[i]
//
// position(i) counts from 0 at the start of each text. Sums are taken in the order written. With `quantized` the result
// is also written as quantize_rows.h says.
// Shapes: ids, segment_ids [offsets[texts]]; tables [rows][columns]; out [tokens][out_stride]. The caller has checked
// that ids, segment ids and positions lie within their tables (encoder.h does).
// Numeric class: consistent. Threads: any number, on disjoint texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/layer_norm/layer_norm.h"

namespace weir::kernels {

struct EmbeddingTables {
  const float* words = nullptr;
  const float* positions = nullptr;  ///< null: none (rotary, ALiBi)
  const float* segments = nullptr;   ///< null: none
  std::size_t first_position = 0;    ///< RoBERTa counts from padding_idx + 1
  LayerNormParameters layer_norm;    ///< gamma null: not normalized
};

struct Embedding {
  const std::int32_t* ids = nullptr;
  const std::int32_t* segment_ids = nullptr;  ///< null: all of segment 0
  const std::uint32_t* offsets = nullptr;
  std::size_t first_text = 0;
  std::size_t last_text = 0;  ///< one past
  std::size_t columns = 0;
  EmbeddingTables tables;
  float* out = nullptr;
  std::size_t out_stride = 0;
  std::uint8_t* quantized = nullptr;  ///< null: none
  std::size_t quantized_stride = 0;
  RowScale* quantized_scale = nullptr;
};

struct EmbeddingVariant {
  const char* name;
  cpu::Features required;
  void (*run)(const Embedding&);
};

/// All variants of this build, best first.
std::span<const EmbeddingVariant> embedding_variants();

/// The best one that `features` can run.
const EmbeddingVariant& choose_embedding(cpu::Features features);

}  // namespace weir::kernels
