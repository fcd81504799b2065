#include "kernels/encoder/encoder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/bf16/bf16_rows.h"
#include "kernels/encoder/validate.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kLineBytes = 64;

/// A stride of 8-bit rows: whole tiles plus a cache line, so that rows a power of two wide do not share cache sets.
std::size_t byte_stride(std::size_t columns) { return padded_columns(columns) + kLineBytes; }

/// The same of bf16 rows.
std::size_t bf16_stride(std::size_t columns) { return padded_bf16_columns(columns) + kLineBytes / 2; }

/// Hands out parts of one allocation; first counts, then, given memory, places.
class Layout {
 public:
  explicit Layout(std::byte* memory) : memory_(memory) {}
  template <class T>
  T* take(std::size_t count) {
    std::byte* place = memory_ == nullptr ? nullptr : memory_ + bytes_;
    bytes_ += (count * sizeof(T) + kLineBytes - 1) / kLineBytes * kLineBytes;
    return reinterpret_cast<T*>(place);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

MatmulQ8 shape_only(std::size_t inputs, std::size_t channels) {
  MatmulQ8 args;
  args.weights.inputs = inputs;
  args.weights.channels = channels;
  return args;
}

}  // namespace

EncoderKernels choose_encoder_kernels(cpu::Features features, AttentionPrecision precision) {
  return {&choose_matmul_q8(features), &choose_attention(features, precision), &choose_embedding(features),
          &choose_quantize_rows(features)};
}

std::size_t EncoderWorkspace::place(const EncoderModel& model, std::byte* memory) {
  const std::size_t hidden = model.hidden;
  const std::size_t widest = std::max(3 * hidden, model.intermediate);
  const std::size_t longest = std::min(tokens_, model.positions - model.embedding.first_position);
  Layout layout(memory);
  query_key_value_ = layout.take<std::uint16_t>(tokens_ * bf16_stride(3 * hidden));
  context_ = layout.take<float>(longest * hidden);
  narrow_ = layout.take<std::uint8_t>(tokens_ * byte_stride(hidden));
  wide_ = layout.take<std::uint8_t>(tokens_ * byte_stride(model.intermediate));
  narrow_scale_ = layout.take<RowScale>(tokens_);
  wide_scale_ = layout.take<RowScale>(tokens_);
  matmul_scratch_ = layout.take<float>(matmul_q8_scratch_floats(shape_only(hidden, widest)));
  attention_scratch_ = layout.take<float>(attention_scratch_floats(longest, hidden / model.heads));
  return layout.bytes();
}

Result<EncoderWorkspace> EncoderWorkspace::create(const EncoderModel& model, std::size_t maximum_tokens) {
  EncoderWorkspace workspace;
  workspace.tokens_ = maximum_tokens;
  workspace.bytes_ = workspace.place(model, nullptr);
  workspace.memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kLineBytes, workspace.bytes_)));
  if (workspace.memory_ == nullptr) {
    return Error(ErrorKind::kInternal, "no memory for a workspace of " + std::to_string(maximum_tokens) + " tokens (" +
                                           std::to_string(workspace.bytes_) + " bytes)");
  }
  workspace.place(model, workspace.memory_.get());
  return workspace;
}

/// One call of encode(): the layers on one chunk.
class EncoderRun {
 public:
  EncoderRun(const EncoderModel& model, const EncoderKernels& kernels, const EncoderChunk& chunk,
             EncoderWorkspace& workspace, float* out)
      : model_(model), kernels_(kernels), chunk_(chunk), workspace_(workspace), hidden_states_(out) {}

  void run() {
    embed();
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      const EncoderLayer& layer = model_.layers[i];
      attend(layer);
      feed_forward(layer, i + 1 == model_.layers.size());
    }
  }

 private:
  std::size_t rows() const { return chunk_.ids.size(); }
  std::size_t texts() const { return chunk_.offsets.size() - 1; }

  void embed() {
    Embedding args;
    args.ids = chunk_.ids.data();
    args.segment_ids = chunk_.segment_ids.empty() ? nullptr : chunk_.segment_ids.data();
    args.offsets = chunk_.offsets.data();
    args.last_text = texts();
    args.columns = model_.hidden;
    args.tables = model_.embedding;
    args.out = hidden_states_;
    args.out_stride = model_.hidden;
    args.quantized = workspace_.narrow_;
    args.quantized_stride = byte_stride(model_.hidden);
    args.quantized_scale = workspace_.narrow_scale_;
    kernels_.embedding->run(args);
  }

  MatmulQ8 linear(const PackedWeightsQ8& weights, bool from_wide) const {
    MatmulQ8 args;
    args.activations = from_wide ? workspace_.wide_ : workspace_.narrow_;
    args.activation_stride = byte_stride(from_wide ? model_.intermediate : model_.hidden);
    args.activation_scale = from_wide ? workspace_.wide_scale_ : workspace_.narrow_scale_;
    args.rows = rows();
    args.weights = weights;
    return args;
  }

  /// Residual, layer norm, and the next layer's 8-bit rows unless there is none. The residual is replaced in place.
  void run_with_norm(MatmulQ8 args, const LayerNormParameters& norm, bool quantize_result) {
    args.residual = args.out = hidden_states_;
    args.residual_stride = args.out_stride = model_.hidden;
    args.layer_norm = &norm;
    if (quantize_result) {
      args.quantized = workspace_.narrow_;
      args.quantized_stride = byte_stride(model_.hidden);
      args.quantized_scale = workspace_.narrow_scale_;
    }
    kernels_.matmul->run(args, {0, rows()}, workspace_.matmul_scratch_);
  }

  void attend(const EncoderLayer& layer) {
    const std::size_t hidden = model_.hidden;
    MatmulQ8 projection = linear(layer.query_key_value, false);
    projection.out_bf16 = workspace_.query_key_value_;
    projection.out_bf16_stride = bf16_stride(3 * hidden);
    kernels_.matmul->run(projection, {0, rows()}, workspace_.matmul_scratch_);
    for (std::size_t t = 0; t < texts(); ++t) attend_text(chunk_.offsets[t], chunk_.offsets[t + 1]);
    run_with_norm(linear(layer.attention_output, false), layer.attention_norm, true);
  }

  /// One text at a time: what it attends to is quantized while it is in the caches.
  void attend_text(std::uint32_t first, std::uint32_t last) {
    const std::size_t hidden = model_.hidden;
    const std::uint32_t offsets[] = {0, last - first};
    Attention args;
    args.stride = bf16_stride(3 * hidden);
    args.query_bf16 = workspace_.query_key_value_ + first * args.stride;
    args.key_bf16 = args.query_bf16 + hidden;
    args.value_bf16 = args.key_bf16 + hidden;
    args.offsets = offsets;
    args.heads = model_.heads;
    args.head_size = hidden / model_.heads;
    args.scale = 1.0f / std::sqrt(static_cast<float>(args.head_size));
    args.options = model_.attention_options;
    args.out = workspace_.context_;
    args.out_stride = hidden;
    kernels_.attention->run(args, {0, 1, 0, model_.heads}, workspace_.attention_scratch_);
    const std::size_t stride = byte_stride(hidden);
    kernels_.quantize->run({workspace_.context_, hidden, last - first, hidden, workspace_.narrow_ + first * stride,
                            stride, workspace_.narrow_scale_ + first});
  }

  void feed_forward(const EncoderLayer& layer, bool last) {
    MatmulQ8 up = linear(layer.feed_forward_up, false);
    up.activation = model_.activation;
    up.quantized = workspace_.wide_;
    up.quantized_stride = byte_stride(model_.intermediate);
    up.quantized_scale = workspace_.wide_scale_;
    kernels_.matmul->run(up, {0, rows()}, workspace_.matmul_scratch_);
    run_with_norm(linear(layer.feed_forward_down, true), layer.output_norm, !last);
  }

  const EncoderModel& model_;
  const EncoderKernels& kernels_;
  const EncoderChunk& chunk_;
  EncoderWorkspace& workspace_;
  float* hidden_states_;
};

Status encode(const EncoderModel& model, const EncoderKernels& kernels, const EncoderChunk& chunk,
              EncoderWorkspace& workspace, float* out) {
  WEIR_RETURN_IF_ERROR(validate_chunk(model, chunk, workspace.tokens()));
  if (!chunk.ids.empty()) EncoderRun(model, kernels, chunk, workspace, out).run();
  return {};
}

}  // namespace weir::kernels
