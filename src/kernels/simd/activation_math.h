// exp, GELU, SiLU and tanh on F32x16, one algorithm and the same bits for every ISA; maximum errors are against exact
// arithmetic and are held by activation_math_test.cc.
#pragma once

#include "kernels/simd/f32x16.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

/// e^x, relative error < 2e-7. Below -87.3 the result stays at e^-87.3 (1.2e-38), above 88 at e^88; NaN stays NaN.
/// Cody-Waite reduction to |r| <= ln(2)/2, then the Taylor polynomial up to r^7.
inline F32x16 exponential(F32x16 x) {
  x = min(broadcast(88.0f), max(broadcast(-87.3f), x));  // in this order NaN passes through
  const I32x16 n = round_to_i32(mul(x, broadcast(1.44269504f)));
  const F32x16 nf = to_f32(n);
  F32x16 r = fma(nf, broadcast(-0.693359375f), x);
  r = fma(nf, broadcast(2.12194440e-4f), r);
  F32x16 p = broadcast(1.0f / 5040);
  p = fma(p, r, broadcast(1.0f / 720));
  p = fma(p, r, broadcast(1.0f / 120));
  p = fma(p, r, broadcast(1.0f / 24));
  p = fma(p, r, broadcast(1.0f / 6));
  p = fma(p, r, broadcast(0.5f));
  p = fma(p, r, broadcast(1.0f));
  p = fma(p, r, broadcast(1.0f));
  return from_bits(add(bits(p), shift_left<23>(n)));
}

/// e^x for x <= 0, in place, as softmax needs it: relative error < 4e-7, half of the operations of exponential(). Below
/// -87.3 the result stays at e^-87.3; NaN stays NaN. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low
/// bits; the polynomial is fitted for the least maximum relative error on |r| <= ln(2)/2. Several vectors at once, as
/// each is one long chain of dependent operations.
template <std::size_t count>
WEIR_INLINED inline void exponential_of_negative(F32x16 (&x)[count]) {
  constexpr int kCount = static_cast<int>(count);
  constexpr float kCoefficients[] = {0.0418901704f, 0.166671142f, 0.499992311f, 1.0f, 1.0f};
  const F32x16 shifter = broadcast(12582912.0f);
  F32x16 shifted[count];
  F32x16 r[count];
  F32x16 p[count];
  unroll<kCount>([&]<int i>() WEIR_INLINED { x[i] = max(broadcast(-87.3f), x[i]); });  // in this order NaN passes
  unroll<kCount>([&]<int i>() WEIR_INLINED { shifted[i] = fma(x[i], broadcast(1.44269504f), shifter); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { r[i] = fma(sub(shifted[i], shifter), broadcast(-0.693147181f), x[i]); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { p[i] = broadcast(0.00831252709f); });
  unroll<5>([&]<int c>() WEIR_INLINED {
    unroll<kCount>([&]<int i>() WEIR_INLINED { p[i] = fma(p[i], r[i], broadcast(kCoefficients[c])); });
  });
  unroll<kCount>([&]<int i>() WEIR_INLINED { x[i] = from_bits(add(bits(p[i]), shift_left<23>(bits(shifted[i])))); });
}

/// x / (1 + e^-x), absolute error < 1e-6 * max(1, |x|).
inline F32x16 silu(F32x16 x) {
  const F32x16 negated = sub(broadcast(0.0f), x);
  return div(x, add(broadcast(1.0f), exponential(negated)));
}

/// tanh(x) = 1 - 2 / (1 + e^2x), absolute error < 1e-6.
inline F32x16 hyperbolic_tangent(F32x16 x) {
  const F32x16 one = broadcast(1.0f);
  return sub(one, div(broadcast(2.0f), add(one, exponential(add(x, x)))));
}

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is x / (1 + e^-2u).
inline F32x16 gelu_tanh(F32x16 x) {
  const F32x16 square = mul(x, x);
  const F32x16 inner = fma(square, broadcast(-0.0713548163f), broadcast(-1.59576912f));
  return div(x, add(broadcast(1.0f), exponential(mul(x, inner))));
}

/// x Phi(x), Phi the normal distribution, absolute error < 1e-6 * max(1, |x|).
/// Phi's tail is the rational approximation 7.1.26 of Abramowitz and Stegun (five terms times e^(-x^2/2)).
inline F32x16 gelu_erf(F32x16 x) {
  const F32x16 magnitude = absolute(x);
  const F32x16 t = div(broadcast(1.0f), fma(magnitude, broadcast(0.231641888f), broadcast(1.0f)));
  F32x16 p = broadcast(0.530702715f);
  p = fma(p, t, broadcast(-0.726576014f));
  p = fma(p, t, broadcast(0.71070687f));
  p = fma(p, t, broadcast(-0.142248368f));
  p = fma(p, t, broadcast(0.127414796f));
  const F32x16 density = exponential(mul(mul(x, broadcast(-0.5f)), x));
  const F32x16 tail = mul(mul(p, t), density);
  // Above zero x (1 - tail), below x tail: max(x, 0) - |x| tail covers both.
  return sub(max(x, broadcast(0.0f)), mul(magnitude, tail));
}

/// x Phi(x), in place, for results that are quantized to 8 bits next: absolute error < 2.5e-4 for |x| < 6, relative
/// error < 5e-5 beyond 6; 12 operations. Phi - 1/2 is t times a polynomial in t^2 fitted for the least maximum error of
/// x Phi(x), t being x clamped to +-4. Several vectors at once, as each is one long chain of dependent operations.
template <std::size_t count>
WEIR_INLINED inline void gelu_erf_coarse(F32x16 (&x)[count]) {
  constexpr int kCount = static_cast<int>(count);
  constexpr float kCoefficients[] = {-1.59859746e-06f, 4.79554183e-05f, -0.000814014405f,
                                     0.00877238251f,   -0.0645731017f,  0.397883356f};
  F32x16 t[count];
  F32x16 s[count];
  F32x16 p[count];
  unroll<kCount>([&]<int i>() WEIR_INLINED { t[i] = max(min(x[i], broadcast(4.0f)), broadcast(-4.0f)); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { s[i] = mul(t[i], t[i]); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { p[i] = broadcast(2.27813501e-08f); });
  unroll<6>([&]<int c>() WEIR_INLINED {
    unroll<kCount>([&]<int i>() WEIR_INLINED { p[i] = fma(p[i], s[i], broadcast(kCoefficients[c])); });
  });
  unroll<kCount>([&]<int i>() WEIR_INLINED { x[i] = mul(x[i], fma(p[i], t[i], broadcast(0.5f))); });
}

}  // namespace
}  // namespace weir::kernels
