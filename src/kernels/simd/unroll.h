// Loops that are unrolled before the compiler optimizes: accumulators in an array stay in registers only if every index
// is a constant from the start (g++ 12 otherwise keeps a copy on the stack and writes it in each iteration).
#pragma once

#include <utility>

/// Stands between parameter list and body of a lambda given to unroll().
#define WEIR_INLINED __attribute__((always_inline))

namespace weir::kernels {
namespace {

template <class F, int... i>
WEIR_INLINED inline void unroll_sequence([[maybe_unused]] F f, std::integer_sequence<int, i...>) {
  (f.template operator()<i>(), ...);
}

/// f.operator()<0>(), ..., f.operator()<count - 1>()
template <int count, class F>
WEIR_INLINED inline void unroll(F f) {
  unroll_sequence(f, std::make_integer_sequence<int, count>());
}

}  // namespace
}  // namespace weir::kernels
