// F32x16 for the instruction set that the including source is compiled for (cmake/WeirIsa.cmake): the algorithms on it
// are written once, and each ISA file compiles them anew.
#pragma once

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "kernels/simd/f32x16_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "kernels/simd/f32x16_avx2.h"
#else
#include "kernels/simd/f32x16_scalar.h"
#endif
