// matmul_q8 on several threads, which the caller provides.
#pragma once

#include <cstddef>
#include <functional>

#include "kernels/matmul_q8/matmul_q8.h"

namespace weir::kernels {

/// Calls task(0) ... task(count - 1), at most `count` at a time, and returns when all are done.
using ParallelFor = std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;

/// The whole product on `threads` threads that `parallel` provides: rows are divided where there are enough of them,
/// else the channels (one short text: its weights are read once, by all cores together). `scratch` holds
/// matmul_q8_parallel_scratch_floats(args, threads) floats.
void matmul_q8_parallel(const MatmulQ8Variant& variant, const MatmulQ8& args, std::size_t threads,
                        const ParallelFor& parallel, float* scratch);
std::size_t matmul_q8_parallel_scratch_floats(const MatmulQ8& args, std::size_t threads);

}  // namespace weir::kernels
