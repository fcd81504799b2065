#include "ops/linear_q8.h"

#include "kernels/matmul_q8/parallel.h"
#include "ops/scratch.h"
#include "packed_weights/linear_q8.h"

namespace weir::ops {
namespace {

using kernels::MatmulQ8;

constexpr const char* kActivationNames[] = {"none", "gelu_erf", "gelu_tanh", "relu", "silu"};
constexpr kernels::Activation kActivations[] = {kernels::Activation::kNone, kernels::Activation::kGeluErf,
                                                kernels::Activation::kGeluTanh, kernels::Activation::kRelu,
                                                kernels::Activation::kSilu};

Result<kernels::PackedWeightsQ8> read_weights(const Node& node, std::size_t input) {
  WEIR_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, node.constant_bytes(input));
  return packed_weights::view_linear_q8(bytes);
}

Result<const kernels::MatmulQ8Variant*> choose_variant() {
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  return &kernels::choose_matmul_q8(features);
}

/// Inputs 0 and 1.
Result<MatmulQ8> read_rows(const Call& call, const kernels::PackedWeightsQ8& weights) {
  WEIR_ASSIGN_OR_RETURN(const auto rows, call.matrix<std::uint8_t>(0, "rows"));
  WEIR_ASSIGN_OR_RETURN(const auto scales, call.vector<float>(1, "scales", rows.rows));
  if (rows.columns < weights.padded_inputs()) {
    return Error(ErrorKind::kInvalidArgument,
                 "input 'rows' has " + std::to_string(rows.columns) + " columns; weights of " +
                     std::to_string(weights.inputs) + " inputs need at least " +
                     std::to_string(weights.padded_inputs()),
                 "rows");
  }
  MatmulQ8 args;
  args.activations = rows.data;
  args.activation_stride = rows.columns;
  args.activation_scale = scales.data();
  args.rows = rows.rows;
  args.weights = weights;
  return args;
}

void set_quantized(MatmulQ8& args, const QuantizedOutput& output) {
  args.quantized = output.data;
  args.quantized_stride = output.stride;
  args.quantized_scale = output.scale;
}

/// Waking a thread costs some ten microseconds: the products it takes over must be worth more.
constexpr std::size_t kProductsWorthAThread = std::size_t{4} << 20;

Status run(const Call& call, const MatmulQ8& args, const kernels::MatmulQ8Variant& variant, std::size_t most_threads) {
  if (args.rows == 0) return {};
  const std::size_t products = args.rows * args.weights.panels() * args.weights.panel_bytes();
  const std::size_t threads = useful_threads(products, kProductsWorthAThread, most_threads);
  WEIR_ASSIGN_OR_RETURN(float* work,
                        scratch<float>(Slot::kWork, kernels::matmul_q8_parallel_scratch_floats(args, threads)));
  kernels::matmul_q8_parallel(variant, args, threads, call.parallel(), work);
  return {};
}

}  // namespace

Result<std::unique_ptr<LinearQ8>> LinearQ8::create(const Node& node) {
  auto kernel = std::make_unique<LinearQ8>();
  WEIR_ASSIGN_OR_RETURN(kernel->weights_, read_weights(node, 2));
  WEIR_ASSIGN_OR_RETURN(const std::size_t activation, node.choice("activation", kActivationNames));
  kernel->activation_ = kActivations[activation];
  WEIR_ASSIGN_OR_RETURN(kernel->quantize_, node.flag("quantize"));
  WEIR_ASSIGN_OR_RETURN(kernel->variant_, choose_variant());
  kernel->threads_ = node.threads();
  return kernel;
}

Status LinearQ8::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(MatmulQ8 args, read_rows(call, weights_));
  args.activation = activation_;
  if (quantize_) {
    set_quantized(args, call.quantized_output(1, args.rows, weights_.channels));
  } else {
    args.out = call.output(0, args.rows, weights_.channels);
    args.out_stride = weights_.channels;
  }
  return run(call, args, *variant_, threads_);
}

Result<std::unique_ptr<LinearQ8ResidualNorm>> LinearQ8ResidualNorm::create(const Node& node) {
  auto kernel = std::make_unique<LinearQ8ResidualNorm>();
  WEIR_ASSIGN_OR_RETURN(kernel->weights_, read_weights(node, 3));
  WEIR_ASSIGN_OR_RETURN(kernel->epsilon_, node.number("epsilon"));
  WEIR_ASSIGN_OR_RETURN(kernel->quantize_, node.flag("quantize"));
  WEIR_ASSIGN_OR_RETURN(kernel->variant_, choose_variant());
  kernel->threads_ = node.threads();
  return kernel;
}

Status LinearQ8ResidualNorm::compute(Call& call) const {
  const std::size_t channels = weights_.channels;
  WEIR_ASSIGN_OR_RETURN(MatmulQ8 args, read_rows(call, weights_));
  WEIR_ASSIGN_OR_RETURN(const auto residual, call.matrix<float>(2, "residual", channels, args.rows));
  WEIR_ASSIGN_OR_RETURN(const auto gamma, call.vector<float>(4, "gamma", channels));
  WEIR_ASSIGN_OR_RETURN(const auto beta, call.vector<float>(5, "beta", channels));
  const kernels::LayerNormParameters norm{gamma.data(), beta.data(), epsilon_};
  args.residual = residual.data;
  args.residual_stride = channels;
  args.layer_norm = &norm;
  args.out = call.output(0, args.rows, channels);
  args.out_stride = channels;
  if (quantize_) set_quantized(args, call.quantized_output(1, args.rows, channels));
  return run(call, args, *variant_, threads_);
}

}  // namespace weir::ops
