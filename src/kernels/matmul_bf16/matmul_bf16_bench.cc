// matmul_bf16; see peak/layer_bench.h. Variants without bf16 multiplication are compared with the peak of fp32.
#include "kernels/matmul_bf16/matmul_bf16.h"
#include "kernels/peak/layer_bench.h"

namespace weir::kernels {
namespace {

void linear(benchmark::State& state, const MatmulBf16Variant* variant, const BenchLayer* layer, bool hot) {
  MatmulBf16 args;
  args.rows = static_cast<std::size_t>(state.range(0));
  args.weights.inputs = layer->inputs;
  args.weights.channels = layer->channels;
  const std::size_t size = args.weights.panels() * args.weights.panel_size();
  const std::size_t copies = hot ? 1 : cold_copies(size * sizeof(*args.weights.values));
  const Aligned<std::uint16_t> values(copies * size, 0x3c00);
  const Aligned<float> bias(args.weights.padded_channels(), 0.1f);
  args.weights.values = values.data.get();
  args.weights.bias = bias.data.get();
  args.activation_stride = layer->inputs + 32;
  const Aligned<std::uint16_t> activations(args.rows * args.activation_stride, 0x3c00);
  args.activations = activations.data.get();
  BenchResults results(args.rows, *layer);
  results.attach(args, *layer, LayerOutput::kBf16);
  run_layer(state, *variant, args, copies, size);
  report_layer(state, *variant, *layer, nullptr);
}

const int kRegistered = register_layers(matmul_bf16_variants(), linear);

}  // namespace
}  // namespace weir::kernels
