#include "ops/linear.h"

#include "kernels/matmul/parallel.h"
#include "ops/scratch.h"
#include "packed_weights/linear.h"

namespace weir::ops {
namespace {

/// Plain ones, then the same gated.
constexpr const char* kActivationNames[] = {
    "none",       "gelu_erf",       "gelu_tanh",       "relu",       "silu",       "tanh",
    "none_gated", "gelu_erf_gated", "gelu_tanh_gated", "relu_gated", "silu_gated", "tanh_gated"};
constexpr kernels::Activation kActivations[] = {kernels::Activation::kNone,     kernels::Activation::kGeluErf,
                                                kernels::Activation::kGeluTanh, kernels::Activation::kRelu,
                                                kernels::Activation::kSilu,     kernels::Activation::kTanh};

/// Waking a thread costs some ten microseconds: the products it takes over must be worth more.
constexpr std::size_t kProductsWorthAThread = std::size_t{1} << 20;

/// The rows of input 0.
template <class Args, class Weights>
Result<Args> read_rows(const Call& call, const Weights& weights) {
  using Input = typename Args::Input;
  WEIR_ASSIGN_OR_RETURN(const auto rows, call.matrix<Input>(0, "input"));
  if (rows.columns < weights.padded_inputs()) {
    return Error(ErrorKind::kInvalidArgument,
                 "input 'input' has " + std::to_string(rows.columns) + " columns; weights of " +
                     std::to_string(weights.inputs) + " inputs need at least " +
                     std::to_string(weights.padded_inputs()),
                 "input");
  }
  Args args;
  args.activations = rows.data;
  args.activation_stride = rows.columns;
  args.rows = rows.rows;
  args.weights = weights;
  return args;
}

}  // namespace

Result<FormatF32::Weights> FormatF32::view(std::span<const std::byte> bytes) {
  return packed_weights::view_linear_f32(bytes);
}
const kernels::MatmulF32Variant& FormatF32::choose(cpu::Features features) {
  return kernels::choose_matmul_f32(features);
}
Result<FormatF32::Args> FormatF32::read(const Call& call, const Weights& weights) {
  return read_rows<Args>(call, weights);
}

Result<FormatBf16::Weights> FormatBf16::view(std::span<const std::byte> bytes) {
  return packed_weights::view_linear_bf16(bytes);
}
const kernels::MatmulBf16Variant& FormatBf16::choose(cpu::Features features) {
  return kernels::choose_matmul_bf16(features);
}
Result<FormatBf16::Args> FormatBf16::read(const Call& call, const Weights& weights) {
  return read_rows<Args>(call, weights);
}

Result<FormatQ8::Weights> FormatQ8::view(std::span<const std::byte> bytes) {
  return packed_weights::view_linear_q8(bytes);
}
const kernels::MatmulQ8Variant& FormatQ8::choose(cpu::Features features) { return kernels::choose_matmul_q8(features); }
Result<FormatQ8::Args> FormatQ8::read(const Call& call, const Weights& weights) {
  WEIR_ASSIGN_OR_RETURN(Args args, read_rows<Args>(call, weights));
  WEIR_ASSIGN_OR_RETURN(const auto scales, call.matrix<float>(1, "scales", 2, args.rows));
  args.activation_scale = reinterpret_cast<const kernels::RowScale*>(scales.data);
  return args;
}

template <class Format>
Result<LinearLayer<Format>> LinearLayer<Format>::create(const Node& node) {
  LinearLayer layer;
  WEIR_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, node.constant_bytes(Format::kInputs.size() - 1));
  WEIR_ASSIGN_OR_RETURN(layer.weights, Format::view(bytes));
  WEIR_ASSIGN_OR_RETURN(layer.rows, read_rows_format(node));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  layer.variant = &Format::choose(features);
  layer.threads = node.threads();
  return layer;
}

template <class Format>
Status LinearLayer<Format>::run(const Call& call, const typename Format::Args& args) const {
  if (args.rows == 0) return {};
  const std::size_t products = args.rows * weights.panels() * weights.panel_size();
  const std::size_t parts = useful_threads(products, kProductsWorthAThread, threads);
  WEIR_ASSIGN_OR_RETURN(float* work, scratch<float>(Slot::kWork, kernels::matmul_parallel_scratch_floats(args, parts)));
  kernels::matmul_parallel(*variant, args, parts, call.parallel(), work);
  return {};
}

template <class Format>
Result<std::unique_ptr<Linear<Format>>> Linear<Format>::create(const Node& node) {
  auto kernel = std::make_unique<Linear>();
  WEIR_ASSIGN_OR_RETURN(kernel->layer_, LinearLayer<Format>::create(node));
  WEIR_ASSIGN_OR_RETURN(const std::size_t activation, node.choice("activation", kActivationNames));
  kernel->activation_ = kActivations[activation % std::size(kActivations)];
  kernel->gated_ = activation >= std::size(kActivations);
  if (kernel->gated_ && kernel->layer_.weights.channels % 2 != 0) {
    return Error(ErrorKind::kInvalidArgument,
                 "attribute 'activation' is gated, and the weights have an odd number of channels (" +
                     std::to_string(kernel->layer_.weights.channels) + ")",
                 "activation");
  }
  return kernel;
}

template <class Format>
Status Linear<Format>::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(auto args, Format::read(call, layer_.weights));
  args.activation = activation_;
  args.gated = gated_;
  const std::size_t channels = layer_.weights.channels;
  constexpr std::size_t kResidual = Format::kInputs.size();
  if (call.has_input(kResidual)) {
    if (gated_) return Error(ErrorKind::kInvalidArgument, "a gated layer takes no residual", "residual");
    WEIR_ASSIGN_OR_RETURN(const auto residual, call.matrix<float>(kResidual, "residual", channels, args.rows));
    args.residual = residual.data;
    args.residual_stride = channels;
  }
  WEIR_ASSIGN_OR_RETURN(const RowsOutput out,
                        make_rows(call, layer_.rows, false, args.rows, gated_ ? channels / 2 : channels));
  out.attach(args);
  return layer_.run(call, args);
}

template <class Format>
Result<std::unique_ptr<LinearResidualNorm<Format>>> LinearResidualNorm<Format>::create(const Node& node) {
  auto kernel = std::make_unique<LinearResidualNorm>();
  WEIR_ASSIGN_OR_RETURN(kernel->layer_, LinearLayer<Format>::create(node));
  WEIR_ASSIGN_OR_RETURN(kernel->epsilon_, node.number("epsilon"));
  return kernel;
}

template <class Format>
Status LinearResidualNorm<Format>::compute(Call& call) const {
  constexpr std::size_t kFirst = Format::kInputs.size();
  const std::size_t channels = layer_.weights.channels;
  WEIR_ASSIGN_OR_RETURN(auto args, Format::read(call, layer_.weights));
  WEIR_ASSIGN_OR_RETURN(const auto residual, call.matrix<float>(kFirst, "residual", channels, args.rows));
  WEIR_ASSIGN_OR_RETURN(const auto gamma, call.vector<float>(kFirst + 1, "gamma", channels));
  WEIR_ASSIGN_OR_RETURN(const auto beta, call.vector<float>(kFirst + 2, "beta", channels));
  const kernels::LayerNormParameters norm{gamma.data(), beta.data(), epsilon_};
  args.residual = residual.data;
  args.residual_stride = channels;
  args.layer_norm = &norm;
  WEIR_ASSIGN_OR_RETURN(const RowsOutput out, make_rows(call, layer_.rows, true, args.rows, channels));
  out.attach(args);
  return layer_.run(call, args);
}

template class Linear<FormatF32>;
template class Linear<FormatBf16>;
template class Linear<FormatQ8>;
template class LinearResidualNorm<FormatF32>;
template class LinearResidualNorm<FormatBf16>;
template class LinearResidualNorm<FormatQ8>;

}  // namespace weir::ops
