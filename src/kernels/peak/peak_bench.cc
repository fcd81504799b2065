#include <benchmark/benchmark.h>

#include "kernels/peak/peak.h"

namespace {

void peak(benchmark::State& state, const weir::kernels::PeakLoop* loop) {
  constexpr std::int64_t kIterations = 20000;
  for (auto _ : state) loop->run(kIterations);
  state.counters["op/s"] = benchmark::Counter(loop->operations_per_iteration * static_cast<double>(kIterations),
                                              benchmark::Counter::kIsIterationInvariantRate);
}

const int kRegistered = [] {
  for (const auto& loop : weir::kernels::peak_loops()) {
    if (!weir::cpu::detected().contains(loop.required)) continue;
    benchmark::RegisterBenchmark(loop.name, peak, &loop);
  }
  return 0;
}();

}  // namespace
