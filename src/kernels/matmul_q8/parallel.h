// matmul_q8 on several threads: matmul/parallel.h under this family's names.
#pragma once

#include "kernels/matmul/parallel.h"
#include "kernels/matmul_q8/matmul_q8.h"

namespace weir::kernels {

inline void matmul_q8_parallel(const MatmulQ8Variant& variant, const MatmulQ8& args, std::size_t threads,
                               const ParallelFor& parallel, float* scratch) {
  matmul_parallel(variant, args, threads, parallel, scratch);
}
inline std::size_t matmul_q8_parallel_scratch_floats(const MatmulQ8& args, std::size_t threads) {
  return matmul_parallel_scratch_floats(args, threads);
}

}  // namespace weir::kernels
