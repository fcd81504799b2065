// A whole encoder of BERT's form (post-layer-norm) on a packed chunk of texts, in 8 bits: embeddings, then per layer
// attention and feed-forward, every linear layer by matmul_q8 with its activation, residual, layer norm and
// requantization fused, so that between two linear layers activations are 8-bit rows and one fp32 residual.
//
// One call runs on one thread; a server takes as many callers as cores, each with a workspace of its own, and gives
// each call a chunk of whole texts (64 to 512 tokens together: what stays in L2). Weights are plain pointers into a
// mapped file, shared by all. A text's result has the same bits in whatever chunk it comes, and, with fp32 attention,
// on whatever variant (numeric classes of the kernels).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/cpu_features.h"
#include "base/result.h"
#include "kernels/attention/attention.h"
#include "kernels/embedding/embedding.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul_q8/matmul_q8.h"
#include "kernels/quantize/quantize_rows.h"

namespace weir::kernels {

/// The chosen variant of each kernel.
struct EncoderKernels {
  const MatmulQ8Variant* matmul = nullptr;
  const AttentionVariant* attention = nullptr;
  const EmbeddingVariant* embedding = nullptr;
  const QuantizeRowsVariant* quantize = nullptr;
};
EncoderKernels choose_encoder_kernels(cpu::Features features, AttentionPrecision precision);

struct EncoderLayer {
  PackedWeightsQ8 query_key_value;  ///< [hidden] -> [3 * hidden]
  PackedWeightsQ8 attention_output;
  LayerNormParameters attention_norm;
  PackedWeightsQ8 feed_forward_up;  ///< [hidden] -> [intermediate]
  PackedWeightsQ8 feed_forward_down;
  LayerNormParameters output_norm;
};

struct EncoderModel {
  std::size_t vocabulary = 0;
  std::size_t positions = 0;  ///< rows of the position table; the longest text is positions - first_position
  std::size_t segments = 0;
  EmbeddingTables embedding;
  std::size_t hidden = 0;
  std::size_t intermediate = 0;
  std::size_t heads = 0;
  Activation activation = Activation::kGeluErf;
  AttentionOptions attention_options;
  std::span<const EncoderLayer> layers;
};

/// Fails with kCorrupt where sizes contradict each other or a pointer is missing; names the layer and part.
Status validate_encoder(const EncoderModel& model);

/// Whole texts, packed.
struct EncoderChunk {
  std::span<const std::int32_t> ids;
  std::span<const std::int32_t> segment_ids;  ///< empty: all of segment 0
  std::span<const std::uint32_t> offsets;     ///< texts + 1, ascending from 0 to ids.size()
};

/// Memory for the intermediate values of chunks of up to `tokens()` tokens. One thread at a time.
class EncoderWorkspace {
 public:
  /// Fails with kInternal when there is not enough memory. The model has been validated.
  static Result<EncoderWorkspace> create(const EncoderModel& model, std::size_t maximum_tokens);

  std::size_t tokens() const { return tokens_; }
  std::size_t memory_bytes() const { return bytes_; }

 private:
  friend class EncoderRun;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };

  EncoderWorkspace() = default;
  /// Sets the pointers to places from `memory` on (null: only counts) and returns the bytes they take together.
  std::size_t place(const EncoderModel& model, std::byte* memory);

  std::size_t tokens_ = 0;
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
  std::uint16_t* query_key_value_ = nullptr;  ///< bf16 [tokens][3 * hidden and padding]
  float* context_ = nullptr;                  ///< [longest text][hidden]
  std::uint8_t* narrow_ = nullptr;            ///< 8-bit rows of `hidden` columns
  std::uint8_t* wide_ = nullptr;              ///< 8-bit rows of `intermediate` columns
  RowScale* narrow_scale_ = nullptr;
  RowScale* wide_scale_ = nullptr;
  float* matmul_scratch_ = nullptr;
  float* attention_scratch_ = nullptr;
};

/// Writes the last hidden states, out [ids.size()][hidden]. The model has been validated. Fails with kInvalidArgument
/// where offsets do not ascend, an id or segment is out of range, a text is longer than the positions, or the chunk is
/// larger than the workspace; nothing is computed then.
Status encode(const EncoderModel& model, const EncoderKernels& kernels, const EncoderChunk& chunk,
              EncoderWorkspace& workspace, float* out);

}  // namespace weir::kernels
