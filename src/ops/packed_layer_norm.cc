#include "ops/packed_layer_norm.h"

#include "ops/scratch.h"

namespace weir::ops {
namespace {

constexpr std::size_t kFloatsWorthAThread = std::size_t{1} << 17;

/// Rows `range` of what `args` describes.
kernels::LayerNorm part_of(const kernels::LayerNorm& args, kernels::IndexRange range) {
  kernels::LayerNorm part = args;
  part.in += range.begin * args.in_stride;
  if (part.residual != nullptr) part.residual += range.begin * args.residual_stride;
  part.rows = range.end - range.begin;
  part.out += range.begin * args.out_stride;
  if (part.quantized == nullptr) return part;
  part.quantized += range.begin * args.quantized_stride;
  part.quantized_scale += range.begin;
  return part;
}

}  // namespace

Result<std::unique_ptr<PackedLayerNorm>> PackedLayerNorm::create(const Node& node) {
  WEIR_ASSIGN_OR_RETURN(const RowsFormat rows, read_rows_format(node));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  auto kernel = std::make_unique<PackedLayerNorm>(rows, RowsWriter(features));
  WEIR_ASSIGN_OR_RETURN(kernel->epsilon_, node.number("epsilon"));
  kernel->variant_ = &kernels::choose_layer_norm(features);
  kernel->threads_ = node.threads();
  return kernel;
}

Result<kernels::LayerNorm> PackedLayerNorm::read(const Call& call) const {
  kernels::LayerNorm args;
  WEIR_ASSIGN_OR_RETURN(const auto values, call.matrix<float>(0, "values"));
  args.in = values.data;
  args.in_stride = args.residual_stride = args.out_stride = args.columns = values.columns;
  args.rows = values.rows;
  if (call.has_input(1)) {
    WEIR_ASSIGN_OR_RETURN(const auto residual, call.matrix<float>(1, "residual", args.columns, args.rows));
    args.residual = residual.data;
  }
  WEIR_ASSIGN_OR_RETURN(const auto gamma, call.vector<float>(2, "gamma", args.columns));
  WEIR_ASSIGN_OR_RETURN(const auto beta, call.vector<float>(3, "beta", args.columns));
  args.parameters = {gamma.data(), beta.data(), epsilon_};
  return args;
}

Status PackedLayerNorm::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(kernels::LayerNorm args, read(call));
  WEIR_ASSIGN_OR_RETURN(RowsOutput out, make_rows(call, rows_, false, args.rows, args.columns));
  args.out = out.values;
  if (args.out == nullptr) {
    WEIR_ASSIGN_OR_RETURN(args.out, scratch<float>(Slot::kRows, args.rows * args.columns));
  }
  args.quantized = out.bytes;
  args.quantized_stride = bytes_stride(args.columns);
  args.quantized_scale = out.scales;
  const std::size_t threads = useful_threads(args.rows * args.columns, kFloatsWorthAThread, threads_);
  call.parallel()(threads, [&](std::size_t i) { variant_->run(part_of(args, share(args.rows, threads, i))); });
  out.bytes = nullptr;  // written by the kernel
  writer_.write(call, args.out, args.rows, out, threads_);
  return {};
}

}  // namespace weir::ops
