// matmul_f32; see peak/layer_bench.h. The peak is that of the fused multiply-add.
#include "kernels/matmul_f32/matmul_f32.h"
#include "kernels/peak/layer_bench.h"

namespace weir::kernels {
namespace {

void linear(benchmark::State& state, const MatmulF32Variant* variant, const BenchLayer* layer, bool hot) {
  MatmulF32 args;
  args.rows = static_cast<std::size_t>(state.range(0));
  args.weights.inputs = layer->inputs;
  args.weights.channels = layer->channels;
  const std::size_t size = args.weights.panels() * args.weights.panel_size();
  const std::size_t copies = hot ? 1 : cold_copies(size * sizeof(*args.weights.values));
  const Aligned<float> values(copies * size, 0.01f);
  const Aligned<float> bias(args.weights.padded_channels(), 0.1f);
  args.weights.values = values.data.get();
  args.weights.bias = bias.data.get();
  args.activation_stride = layer->inputs + 16;
  const Aligned<float> activations(args.rows * args.activation_stride, 0.01f);
  args.activations = activations.data.get();
  BenchResults results(args.rows, *layer);
  results.attach(args, *layer, LayerOutput::kFp32);
  run_layer(state, *variant, args, copies, size);
  report_layer(state, *variant, *layer, nullptr);
}

const int kRegistered = register_layers(matmul_f32_variants(), linear);

}  // namespace
}  // namespace weir::kernels
