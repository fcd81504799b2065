#include "kernels/peak/peak.h"

#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace weir::kernels {

#define WEIR_VARIANT(name, required, operations) void peak_##name(std::int64_t iterations);
#include "kernels/peak/variants.inc"
#undef WEIR_VARIANT

namespace {

constexpr PeakLoop kLoops[] = {
#define WEIR_VARIANT(name, required, operations) {#name, required, operations, peak_##name},
#include "kernels/peak/variants.inc"
#undef WEIR_VARIANT
};

double measure(const PeakLoop& loop) {
  constexpr std::int64_t kIterations = 20000;
  constexpr int kRuns = 50;
  double best = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    loop.run(kIterations);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double rate = static_cast<double>(kIterations) * loop.operations_per_iteration / elapsed.count();
    if (rate > best) best = rate;
  }
  return best;
}

}  // namespace

std::span<const PeakLoop> peak_loops() { return kLoops; }

double peak_operations_per_second(const char* name) {
  static std::map<std::string, double> known;
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  double rate = 0;
  for (const PeakLoop& loop : kLoops) {
    if (std::string_view(loop.name) == name && cpu::detected().contains(loop.required)) rate = measure(loop);
  }
  return known[name] = rate;
}

}  // namespace weir::kernels
