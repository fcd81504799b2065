#include "kernels/matmul_q8/parallel.h"

#include <algorithm>

namespace weir::kernels {
namespace {

IndexRange share(std::size_t total, std::size_t parts, std::size_t index) {
  return {total * index / parts, total * (index + 1) / parts};
}

/// Fewer rows than this per thread, and the weights would be read by each thread for too little work.
constexpr std::size_t kLeastRowsPerThread = 16;

bool divides_rows(const MatmulQ8& args, std::size_t threads) {
  return threads <= 1 || args.rows >= threads * kLeastRowsPerThread;
}

}  // namespace

std::size_t matmul_q8_parallel_scratch_floats(const MatmulQ8& args, std::size_t threads) {
  if (divides_rows(args, threads)) return std::max<std::size_t>(threads, 1) * matmul_q8_scratch_floats(args);
  return args.rows * args.weights.padded_channels();
}

void matmul_q8_parallel(const MatmulQ8Variant& variant, const MatmulQ8& args, std::size_t threads,
                        const ParallelFor& parallel, float* scratch) {
  if (threads <= 1) return variant.run(args, {0, args.rows}, scratch);
  if (divides_rows(args, threads)) {
    const std::size_t floats = matmul_q8_scratch_floats(args);
    parallel(threads, [&](std::size_t i) { variant.run(args, share(args.rows, threads, i), scratch + i * floats); });
    return;
  }
  const bool direct = args.out != nullptr && args.residual == nullptr && args.layer_norm == nullptr;
  const UnfinishedRows unfinished =
      direct ? UnfinishedRows{args.out, args.out_stride} : UnfinishedRows{scratch, args.weights.padded_channels()};
  parallel(threads, [&](std::size_t i) {
    variant.products(args, {0, args.rows}, share(args.weights.panels(), threads, i), unfinished);
  });
  parallel(threads, [&](std::size_t i) {
    const IndexRange rows = share(args.rows, threads, i);
    variant.finish(args, rows, {unfinished.values + rows.begin * unfinished.stride, unfinished.stride});
  });
}

}  // namespace weir::kernels
