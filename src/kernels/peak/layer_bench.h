// Linear layers of real models by variant, rows and epilogue, with their share of the measured peak of one core: what
// the benchmarks of all families have in common. Not part of the product.
//
// Weights are read as they are in a model: a working set of many layers, each run takes the next one, so that they come
// from the L3 cache or memory unless a layer alone is asked for ("hot").
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/scratch.h"
#include "kernels/peak/peak.h"

namespace weir::kernels {

enum class LayerEnd { kPlain, kGelu, kLayerNorm };

struct BenchLayer {
  const char* name;
  std::size_t inputs, channels;
  LayerEnd end;
};

inline constexpr BenchLayer kBenchLayers[] = {
    {"minilm/qkv", 384, 1152, LayerEnd::kPlain},
    {"minilm/attention_out", 384, 384, LayerEnd::kLayerNorm},
    {"minilm/ffn_up", 384, 1536, LayerEnd::kGelu},
    {"minilm/ffn_down", 1536, 384, LayerEnd::kLayerNorm},
    {"bert_base/qkv", 768, 2304, LayerEnd::kPlain},
    {"bert_base/attention_out", 768, 768, LayerEnd::kLayerNorm},
    {"bert_base/ffn_up", 768, 3072, LayerEnd::kGelu},
    {"bert_base/ffn_down", 3072, 768, LayerEnd::kLayerNorm},
    {"xlm_r_large/qkv", 1024, 3072, LayerEnd::kPlain},
    {"xlm_r_large/attention_out", 1024, 1024, LayerEnd::kLayerNorm},
    {"xlm_r_large/ffn_up", 1024, 4096, LayerEnd::kGelu},
    {"xlm_r_large/ffn_down", 4096, 1024, LayerEnd::kLayerNorm},
};

template <class T>
struct Aligned {
  explicit Aligned(std::size_t count, T value = T{})
      : data(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) / 64 + 1) * 64))) {
    std::fill_n(data.get(), count, value);
  }
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data;
};

/// Which form the next layer takes its input in.
enum class LayerOutput { kFp32, kBf16, kBytes };

/// The memory of a layer's results.
class BenchResults {
 public:
  BenchResults(std::size_t rows, const BenchLayer& layer)
      : stride_(layer.channels + 64),
        out_(rows * layer.channels),
        bf16_(rows * stride_),
        bytes_(rows * stride_),
        scale_(rows),
        gamma_(layer.channels, 1.0f),
        beta_(layer.channels),
        norm_{gamma_.data.get(), beta_.data.get(), 1e-12f} {}

  void attach(MatmulEpilogue& args, const BenchLayer& layer, LayerOutput output) {
    args.out_stride = args.residual_stride = layer.channels;
    args.out_bf16_stride = args.quantized_stride = stride_;
    args.quantized_scale = scale_.data.get();
    const bool narrow = layer.end != LayerEnd::kPlain;
    if (!narrow || layer.end == LayerEnd::kLayerNorm || output == LayerOutput::kFp32) args.out = out_.data.get();
    if (narrow && output == LayerOutput::kBytes) args.quantized = bytes_.data.get();
    if (narrow && output == LayerOutput::kBf16) args.out_bf16 = bf16_.data.get();
    if (layer.end == LayerEnd::kGelu) args.activation = Activation::kGeluErf;
    if (layer.end != LayerEnd::kLayerNorm) return;
    args.layer_norm = &norm_;
    args.residual = out_.data.get();
  }

 private:
  std::size_t stride_;
  Aligned<float> out_;
  Aligned<std::uint16_t> bf16_;
  Aligned<std::uint8_t> bytes_;
  Aligned<RowScale> scale_;
  Aligned<float> gamma_, beta_;
  LayerNormParameters norm_;
};

/// Copies of a layer's weights that together are larger than any L2 cache.
inline std::size_t cold_copies(std::size_t weights_bytes) {
  constexpr std::size_t kBeyondCaches = std::size_t{12} << 20;
  return kBeyondCaches / weights_bytes + 1;
}

template <class Args>
void report_layer(benchmark::State& state, const MatmulVariant<Args>& variant, const BenchLayer& layer,
                  const char* peak_name) {
  const double operations = 2.0 * static_cast<double>(state.range(0)) * static_cast<double>(layer.inputs) *
                            static_cast<double>(layer.channels);
  state.counters["op/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
  const double peak = peak_operations_per_second(peak_name == nullptr ? variant.name : peak_name);
  if (peak > 0) {
    state.counters["of_peak"] = benchmark::Counter(operations / peak, benchmark::Counter::kIsIterationInvariantRate);
  }
}

/// Runs `variant` on `args`, each time with the next of `copies` weights that lie `copy_size` elements apart.
template <class Args>
void run_layer(benchmark::State& state, const MatmulVariant<Args>& variant, Args args, std::size_t copies,
               std::size_t copy_size) {
  const Aligned<float> scratch(matmul_scratch_floats(args));
  const auto* first = args.weights.values;
  std::size_t next = 0;
  for (auto _ : state) {
    args.weights.values = first + next * copy_size;
    next = next + 1 == copies ? 0 : next + 1;
    variant.run(args, {0, args.rows}, scratch.data.get());
  }
}

/// `bench(state, variant, layer, hot)` for all variants that this CPU has.
template <class Args, class Bench>
int register_layers(std::span<const MatmulVariant<Args>> variants, Bench bench) {
  for (const MatmulVariant<Args>& variant : variants) {
    if (!cpu::detected().contains(variant.required) || variant.required.empty()) continue;
    for (const BenchLayer& layer : kBenchLayers) {
      for (const bool hot : {true, false}) {
        const std::string name = std::string(variant.name) + "/" + layer.name + (hot ? "/hot" : "/cold");
        auto* registered = benchmark::RegisterBenchmark(name.c_str(), bench, &variant, &layer, hot);
        for (const int rows : {1, 16, 64, 128, 512}) registered->Arg(rows);
      }
    }
  }
  return 0;
}

}  // namespace weir::kernels
