// A linear layer on several threads, which the caller provides. The result has the same bits for any number of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "kernels/matmul/matmul.h"
#include "kernels/matmul/scratch.h"

namespace weir::kernels {

/// Calls task(0) ... task(count - 1), at most `count` at a time, and returns when all are done.
using ParallelFor = std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;

/// Part `index` of `parts` nearly equal ones.
inline IndexRange equal_share(std::size_t total, std::size_t parts, std::size_t index) {
  return {total * index / parts, total * (index + 1) / parts};
}

/// Whether rows are divided; fewer than these per thread, and each thread would read all weights for too little work.
template <class Args>
bool matmul_divides_rows(const Args& args, std::size_t threads) {
  constexpr std::size_t kLeastRowsPerThread = 16;
  return threads <= 1 || args.rows >= threads * kLeastRowsPerThread;
}

template <class Args>
std::size_t matmul_parallel_scratch_floats(const Args& args, std::size_t threads) {
  if (matmul_divides_rows(args, threads)) return std::max<std::size_t>(threads, 1) * matmul_scratch_floats(args);
  return args.rows * args.weights.padded_channels();
}

/// The whole product on `threads` threads that `parallel` provides: rows are divided where there are enough of them,
/// else the channels (one short text: its weights are read once, by all cores together). `scratch` holds
/// matmul_parallel_scratch_floats(args, threads) floats.
template <class Args>
void matmul_parallel(const MatmulVariant<Args>& variant, const Args& args, std::size_t threads,
                     const ParallelFor& parallel, float* scratch) {
  if (threads <= 1) return variant.run(args, {0, args.rows}, scratch);
  if (matmul_divides_rows(args, threads)) {
    const std::size_t floats = matmul_scratch_floats(args);
    parallel(threads,
             [&](std::size_t i) { variant.run(args, equal_share(args.rows, threads, i), scratch + i * floats); });
    return;
  }
  const UnfinishedRows unfinished = products_are_the_result(args)
                                        ? UnfinishedRows{args.out, args.out_stride}
                                        : UnfinishedRows{scratch, args.weights.padded_channels()};
  // In whole groups of four panels, which the widest micro-kernels take at once.
  constexpr std::size_t kGroup = 4;
  const std::size_t panels = args.weights.panels();
  const std::size_t groups = (panels + kGroup - 1) / kGroup;
  parallel(threads, [&](std::size_t i) {
    const IndexRange share = equal_share(groups, threads, i);
    variant.products(args, {0, args.rows}, {share.begin * kGroup, std::min(share.end * kGroup, panels)}, unfinished);
  });
  parallel(threads, [&](std::size_t i) {
    const IndexRange rows = equal_share(args.rows, threads, i);
    variant.finish(args, rows, {unfinished.values + rows.begin * unfinished.stride, unfinished.stride});
  });
}

}  // namespace weir::kernels
