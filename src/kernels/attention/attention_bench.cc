// Attention over texts of one length from bf16 queries, keys and values, heads of 32 (MiniLM) and 64 (BERT-base,
// XLM-R), one thread: nanoseconds per token and head. What a key costs and what a token costs whatever the length shows
// in the difference between lengths.
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/attention/attention.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kHeads = 12;

std::vector<std::uint16_t> random_bf16(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> halves(count);
  for (std::uint16_t& half : halves) {
    const float value = normal(random);
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    half = static_cast<std::uint16_t>(bits >> 16);
  }
  return halves;
}

void attention(benchmark::State& state, const AttentionVariant* variant) {
  const auto head_size = static_cast<std::size_t>(state.range(0));
  const auto length = static_cast<std::size_t>(state.range(1));
  const std::size_t texts = length < 256 ? 256 / length : 1;
  const std::size_t tokens = texts * length;
  const std::size_t hidden = kHeads * head_size;
  const std::vector<std::uint16_t> input = random_bf16(tokens * 3 * hidden);
  std::vector<std::uint32_t> offsets;
  for (std::size_t i = 0; i <= tokens; i += length) offsets.push_back(static_cast<std::uint32_t>(i));
  std::vector<float> out(tokens * hidden);
  std::vector<float> scratch(attention_scratch_floats(length, head_size));
  Attention args;
  args.query_bf16 = input.data();
  args.key_bf16 = input.data() + hidden;
  args.value_bf16 = input.data() + 2 * hidden;
  args.stride = 3 * hidden;
  args.offsets = offsets.data();
  args.heads = kHeads;
  args.head_size = head_size;
  args.scale = 1.0f / std::sqrt(static_cast<float>(head_size));
  args.out = out.data();
  args.out_stride = hidden;
  for (auto _ : state) {
    variant->run(args, {0, texts, 0, kHeads}, scratch.data());
    benchmark::ClobberMemory();
  }
  // The time of one iteration divided by this many: seconds, which Google Benchmark shows with a unit's prefix.
  state.counters["s_per_token_and_head"] =
      benchmark::Counter(static_cast<double>(tokens * kHeads),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

const int kRegistered = [] {
  for (const AttentionVariant& variant : attention_variants()) {
    if (!cpu::detected().contains(variant.required)) continue;
    benchmark::RegisterBenchmark(variant.name, attention, &variant)
        ->ArgNames({"head_size", "length"})
        ->ArgsProduct({{32, 64}, {8, 16, 32, 64, 128, 256, 512}});
  }
  return 0;
}();

}  // namespace
}  // namespace weir::kernels
