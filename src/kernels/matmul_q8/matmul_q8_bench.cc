// matmul_q8; see peak/layer_bench.h. The peak is that of the variant's own multiply instruction; variants that widen
// to 16 bits have none and report operations only.
#include "kernels/matmul_q8/matmul_q8.h"
#include "kernels/peak/layer_bench.h"

namespace weir::kernels {
namespace {

void linear(benchmark::State& state, const MatmulQ8Variant* variant, const BenchLayer* layer, bool hot) {
  MatmulQ8 args;
  args.rows = static_cast<std::size_t>(state.range(0));
  PackedWeightsQ8& weights = args.weights;
  weights.inputs = layer->inputs;
  weights.channels = layer->channels;
  const std::size_t bytes = weights.panels() * weights.panel_bytes();
  const std::size_t copies = hot ? 1 : cold_copies(bytes);
  const Aligned<std::int8_t> values(copies * bytes, 3);
  const Aligned<std::int32_t> correction(weights.padded_channels(), 5);
  const Aligned<float> scale(weights.padded_channels(), 1e-4f), sum(weights.padded_channels(), 0.1f);
  const Aligned<float> bias(weights.padded_channels(), 0.1f);
  weights.values = values.data.get();
  weights.correction = correction.data.get();
  weights.scale = scale.data.get();
  weights.sum = sum.data.get();
  weights.bias = bias.data.get();

  args.activation_stride = layer->inputs + 64;
  const Aligned<std::uint8_t> activations(args.rows * args.activation_stride, 130);
  const Aligned<RowScale> activation_scale(args.rows, {0.01f, 0.1f});
  args.activations = activations.data.get();
  args.activation_scale = activation_scale.data.get();
  BenchResults results(args.rows, *layer);
  results.attach(args, *layer, LayerOutput::kBytes);
  run_layer(state, *variant, args, copies, bytes);
  const std::string_view name = variant->name;
  report_layer(state, *variant, *layer, name == "avx2" || name == "avx512" ? "none" : nullptr);
}

const int kRegistered = register_layers(matmul_q8_variants(), linear);

}  // namespace
}  // namespace weir::kernels
