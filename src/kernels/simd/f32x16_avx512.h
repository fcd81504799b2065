// Sixteen floats in one zmm register; see f32x16_scalar.h for the contract that the three headers share.
#pragma once

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace weir::kernels {
namespace {

constexpr int kLanes = 16;

struct F32x16 {
  __m512 v;
};
struct I32x16 {
  __m512i v;
};

inline __mmask16 first_lanes(int n) { return static_cast<__mmask16>((1u << n) - 1u); }

inline F32x16 broadcast(float x) { return {_mm512_set1_ps(x)}; }
inline F32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline F32x16 load_first(const float* p, int n) { return {_mm512_maskz_loadu_ps(first_lanes(n), p)}; }
inline void store(float* p, F32x16 a) { _mm512_storeu_ps(p, a.v); }
inline void store_first(float* p, F32x16 a, int n) { _mm512_mask_storeu_ps(p, first_lanes(n), a.v); }
inline F32x16 keep_first(F32x16 a, int n) { return {_mm512_maskz_mov_ps(first_lanes(n), a.v)}; }

inline F32x16 add(F32x16 a, F32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F32x16 sub(F32x16 a, F32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F32x16 mul(F32x16 a, F32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F32x16 div(F32x16 a, F32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline F32x16 min(F32x16 a, F32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }
inline F32x16 max(F32x16 a, F32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
inline F32x16 absolute(F32x16 a) { return {_mm512_abs_ps(a.v)}; }

inline I32x16 load_i32(const std::int32_t* p) { return {_mm512_loadu_si512(p)}; }
inline void store_i32(std::int32_t* p, I32x16 a) { _mm512_storeu_si512(p, a.v); }
inline I32x16 broadcast_i32(std::int32_t x) { return {_mm512_set1_epi32(x)}; }
inline I32x16 add(I32x16 a, I32x16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
inline I32x16 max(I32x16 a, I32x16 b) { return {_mm512_max_epi32(a.v, b.v)}; }
template <int count>
inline I32x16 shift_left(I32x16 a) {
  return {_mm512_slli_epi32(a.v, count)};
}

inline F32x16 to_f32(I32x16 a) { return {_mm512_cvtepi32_ps(a.v)}; }
inline I32x16 round_to_i32(F32x16 a) { return {_mm512_cvtps_epi32(a.v)}; }
inline I32x16 bits(F32x16 a) { return {_mm512_castps_si512(a.v)}; }
inline F32x16 from_bits(I32x16 a) { return {_mm512_castsi512_ps(a.v)}; }

inline void store_u8(std::uint8_t* p, I32x16 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}
inline void store_u8_first(std::uint8_t* p, I32x16 a, int n) {
  _mm512_mask_cvtepi32_storeu_epi8(p, first_lanes(n), a.v);
}

inline __m256 upper_half(__m512 v) { return _mm512_extractf32x8_ps(v, 1); }

inline float reduce_add(F32x16 a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), upper_half(a.v));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float reduce_max(F32x16 a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.v), upper_half(a.v));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
inline std::int32_t reduce_max(I32x16 a) { return _mm512_reduce_max_epi32(a.v); }

}  // namespace
}  // namespace weir::kernels
