// Whole encoders with random weights on one thread: tokens per second by chunk. The linear layers' share of the int8
// peak is reported with all of the rest (attention, norms, activations) in the time. The phase counters say how many
// nanoseconds of a token's time each step takes; linear layers are named by what follows the product.
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/encoder/random_model.h"
#include "kernels/peak/peak.h"

namespace weir::kernels {
namespace {

const RandomModel& minilm() {
  static const RandomModel model({6, 384, 1536, 12, 30522, 512});
  return model;
}
const RandomModel& bert_base() {
  static const RandomModel model({12, 768, 3072, 12, 30522, 512});
  return model;
}

struct Case {
  const char* name;
  const RandomModel& (*model)();
  cpu::Features features;
  AttentionPrecision precision;
};

enum Phase : std::size_t { kEmbedding, kPlain, kActivated, kNormalized, kAttention, kQuantize, kPhases };
constexpr const char* kPhaseNames[kPhases] = {"embedding", "plain", "activated", "normalized", "attention", "quantize"};

/// Stands in for the chosen variants and notes how long each call takes. Variants are plain functions, so what they
/// call lies here; the benchmark has one thread.
class Stopwatch {
 public:
  static EncoderKernels around(const EncoderKernels& kernels) {
    chosen_ = kernels;
    elapsed_ = {};
    static MatmulQ8Variant matmul;
    static AttentionVariant attention;
    static EmbeddingVariant embedding;
    static QuantizeRowsVariant quantize;
    matmul = *kernels.matmul;
    matmul.run = [](const MatmulQ8& args, IndexRange rows, float* scratch) {
      const Phase phase = args.layer_norm != nullptr             ? kNormalized
                          : args.activation != Activation::kNone ? kActivated
                                                                 : kPlain;
      timed(phase, [&] { chosen_.matmul->run(args, rows, scratch); });
    };
    attention = *kernels.attention;
    attention.run = [](const Attention& args, const AttentionRange& range, float* scratch) {
      timed(kAttention, [&] { chosen_.attention->run(args, range, scratch); });
    };
    embedding = *kernels.embedding;
    embedding.run = [](const Embedding& args) { timed(kEmbedding, [&] { chosen_.embedding->run(args); }); };
    quantize = *kernels.quantize;
    quantize.run = [](const QuantizeRows& args) { timed(kQuantize, [&] { chosen_.quantize->run(args); }); };
    return {&matmul, &attention, &embedding, &quantize};
  }
  static void report(benchmark::State& state, std::size_t tokens) {
    for (std::size_t p = 0; p < kPhases; ++p) {
      state.counters[std::string("ns_") + kPhaseNames[p]] =
          elapsed_[p] / static_cast<double>(tokens) / static_cast<double>(state.iterations());
    }
  }

 private:
  template <class F>
  static void timed(Phase phase, F f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    elapsed_[phase] += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
  static inline EncoderKernels chosen_;
  static inline std::array<double, kPhases> elapsed_;
};

void chunk(benchmark::State& state, const Case* test) {
  const auto tokens = static_cast<std::size_t>(state.range(0));
  const auto length = static_cast<std::size_t>(state.range(1));
  const EncoderModel& model = test->model().model;
  std::vector<std::int32_t> ids(tokens);
  for (std::size_t i = 0; i < tokens; ++i) ids[i] = static_cast<std::int32_t>(i * 977 % model.vocabulary);
  std::vector<std::uint32_t> offsets;
  for (std::size_t i = 0; i <= tokens; i += length) offsets.push_back(static_cast<std::uint32_t>(i));
  auto workspace = EncoderWorkspace::create(model, tokens);
  std::vector<float> out(tokens * model.hidden);
  const EncoderKernels kernels = Stopwatch::around(choose_encoder_kernels(test->features, test->precision));
  for (auto _ : state) {
    const Status status = encode(model, kernels, {ids, {}, offsets}, *workspace, out.data());
    if (!status.ok()) state.SkipWithError(status.error().message.c_str());
  }
  Stopwatch::report(state, tokens);
  const double parameters =
      static_cast<double>(model.layers.size()) *
      static_cast<double>(4 * model.hidden * model.hidden + 2 * model.hidden * model.intermediate);
  const double operations = 2.0 * parameters * static_cast<double>(tokens);
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["linear_op/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
  // The variants that widen to 16 bits have no instruction of their own to be compared with.
  const bool has_peak = test->features != kNeedsAvx2;
  const double peak = has_peak ? peak_operations_per_second(kernels.matmul->name) : 0;
  if (peak > 0) {
    state.counters["of_peak"] = benchmark::Counter(operations / peak, benchmark::Counter::kIsIterationInvariantRate);
  }
}

const Case kCases[] = {
    {"minilm/avx2", minilm, kNeedsAvx2, AttentionPrecision::kInt8},
    {"minilm/avx_vnni", minilm, kNeedsAvxVnni, AttentionPrecision::kInt8},
    {"minilm/avx512_vnni", minilm, kNeedsAvx512Vnni, AttentionPrecision::kInt8},
    {"minilm/avx512_vnni, attention in fp32", minilm, kNeedsAvx512Vnni, AttentionPrecision::kFp32},
    {"minilm/amx_int8", minilm, kNeedsAmxInt8, AttentionPrecision::kInt8},
    {"minilm/amx_int8, attention in bf16", minilm, kNeedsAmxInt8.united(kNeedsAmxBf16), AttentionPrecision::kBf16},
    {"bert_base/avx512_vnni", bert_base, kNeedsAvx512Vnni, AttentionPrecision::kInt8},
    {"bert_base/amx_int8", bert_base, kNeedsAmxInt8, AttentionPrecision::kInt8},
};

const int kRegistered = [] {
  for (const Case& test : kCases) {
    if (!cpu::detected().contains(test.features)) continue;
    benchmark::RegisterBenchmark(test.name, chunk, &test)
        ->ArgNames({"tokens", "length"})
        ->Args({16, 16})
        ->Args({64, 32})
        ->Args({128, 64})
        ->Args({128, 128})
        ->Args({512, 128})
        ->Args({512, 512});
  }
  return 0;
}();

}  // namespace
}  // namespace weir::kernels
