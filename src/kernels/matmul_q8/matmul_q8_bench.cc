// matmul_q8 by variant, model shape, rows and epilogue, with its share of the measured peak of one core. The peak is
// that of the variant's own multiply instruction; variants that widen to 16 bits have none and report operations only.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/matmul_q8/matmul_q8.h"
#include "kernels/peak/peak.h"

namespace weir::kernels {
namespace {

enum class Epilogue { kPlain, kGeluQuantized, kLayerNormQuantized };

struct Layer {
  const char* name;
  std::size_t inputs, channels;
  Epilogue epilogue;
};

constexpr Layer kLayers[] = {
    {"minilm/qkv", 384, 1152, Epilogue::kPlain},
    {"minilm/attention_out", 384, 384, Epilogue::kLayerNormQuantized},
    {"minilm/ffn_up", 384, 1536, Epilogue::kGeluQuantized},
    {"minilm/ffn_down", 1536, 384, Epilogue::kLayerNormQuantized},
    {"bert_base/qkv", 768, 2304, Epilogue::kPlain},
    {"bert_base/attention_out", 768, 768, Epilogue::kLayerNormQuantized},
    {"bert_base/ffn_up", 768, 3072, Epilogue::kGeluQuantized},
    {"bert_base/ffn_down", 3072, 768, Epilogue::kLayerNormQuantized},
    {"xlm_r_large/qkv", 1024, 3072, Epilogue::kPlain},
    {"xlm_r_large/attention_out", 1024, 1024, Epilogue::kLayerNormQuantized},
    {"xlm_r_large/ffn_up", 1024, 4096, Epilogue::kGeluQuantized},
    {"xlm_r_large/ffn_down", 4096, 1024, Epilogue::kLayerNormQuantized},
};

template <class T>
struct Aligned {
  explicit Aligned(std::size_t count, T value = T{})
      : data(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64))) {
    std::fill_n(data.get(), count, value);
  }
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data;
};

void linear(benchmark::State& state, const MatmulQ8Variant* variant, const Layer* layer) {
  const auto rows = static_cast<std::size_t>(state.range(0));
  PackedWeightsQ8 weights;
  weights.inputs = layer->inputs;
  weights.channels = layer->channels;
  const Aligned<std::int8_t> values(weights.panels() * weights.panel_bytes(), 3);
  const Aligned<std::int32_t> correction(weights.padded_channels(), 5);
  const Aligned<float> scale(weights.padded_channels(), 1e-4f), bias(weights.padded_channels(), 0.1f);
  weights.values = values.data.get();
  weights.correction = correction.data.get();
  weights.scale = scale.data.get();
  weights.bias = bias.data.get();

  const std::size_t stride = layer->inputs + 64;
  const std::size_t out_stride = layer->channels + 64;
  const Aligned<std::uint8_t> activations(rows * stride, 130), quantized(rows * out_stride);
  const Aligned<float> activation_scale(rows, 0.01f), quantized_scale(rows), out(rows * layer->channels);
  const Aligned<float> gamma(layer->channels, 1.0f), beta(layer->channels, 0.0f);
  const LayerNormParameters norm = {gamma.data.get(), beta.data.get(), 1e-12f};
  MatmulQ8 args;
  args.activations = activations.data.get();
  args.activation_stride = stride;
  args.activation_scale = activation_scale.data.get();
  args.rows = rows;
  args.weights = weights;
  args.quantized_stride = out_stride;
  args.quantized_scale = quantized_scale.data.get();
  args.out_stride = args.residual_stride = layer->channels;
  if (layer->epilogue != Epilogue::kGeluQuantized) args.out = out.data.get();
  if (layer->epilogue != Epilogue::kPlain) args.quantized = quantized.data.get();
  if (layer->epilogue == Epilogue::kGeluQuantized) args.activation = Activation::kGeluErf;
  if (layer->epilogue == Epilogue::kLayerNormQuantized) {
    args.layer_norm = &norm;
    args.residual = out.data.get();
  }
  const Aligned<float> scratch(matmul_q8_scratch_floats(args));

  for (auto _ : state) variant->run(args, {0, rows}, scratch.data.get());
  const double operations = 2.0 * static_cast<double>(rows * layer->inputs * layer->channels);
  state.counters["op/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
  const bool has_peak = std::string_view(variant->name) != "avx2" && std::string_view(variant->name) != "avx512";
  const double peak = has_peak ? peak_operations_per_second(variant->name) : 0;
  if (peak > 0) {
    state.counters["of_peak"] = benchmark::Counter(operations / peak, benchmark::Counter::kIsIterationInvariantRate);
  }
}

const int kRegistered = [] {
  for (const MatmulQ8Variant& variant : matmul_q8_variants()) {
    if (!cpu::detected().contains(variant.required) || variant.required.empty()) continue;
    for (const Layer& layer : kLayers) {
      auto* bench = benchmark::RegisterBenchmark((std::string(variant.name) + "/" + layer.name).c_str(), linear,
                                                 &variant, &layer);
      for (const int rows : {1, 16, 64, 128, 512}) bench->Arg(rows);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace weir::kernels
