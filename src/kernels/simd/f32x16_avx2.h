// Sixteen floats in two ymm registers; see f32x16_scalar.h for the contract that the three headers share.
#pragma once

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace weir::kernels {
namespace {

constexpr int kLanes = 16;

struct F32x16 {
  __m256 low, high;
};
struct I32x16 {
  __m256i low, high;
};

/// A mask for vmaskmov: all bits set in the first `n` of eight lanes; `n` may lie outside 0..8.
inline __m256i first_lanes(int n) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane);
}
inline __m256i load_half(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

inline F32x16 broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline F32x16 load_first(const float* p, int n) {
  return {_mm256_maskload_ps(p, first_lanes(n)), _mm256_maskload_ps(p + 8, first_lanes(n - 8))};
}
inline void store(float* p, F32x16 a) {
  _mm256_storeu_ps(p, a.low);
  _mm256_storeu_ps(p + 8, a.high);
}
inline void store_first(float* p, F32x16 a, int n) {
  _mm256_maskstore_ps(p, first_lanes(n), a.low);
  _mm256_maskstore_ps(p + 8, first_lanes(n - 8), a.high);
}
inline F32x16 keep_first(F32x16 a, int n) {
  return {_mm256_and_ps(a.low, _mm256_castsi256_ps(first_lanes(n))),
          _mm256_and_ps(a.high, _mm256_castsi256_ps(first_lanes(n - 8)))};
}

inline F32x16 replace_from(F32x16 a, int n, F32x16 other) {
  return {_mm256_blendv_ps(other.low, a.low, _mm256_castsi256_ps(first_lanes(n))),
          _mm256_blendv_ps(other.high, a.high, _mm256_castsi256_ps(first_lanes(n - 8)))};
}

inline F32x16 add(F32x16 a, F32x16 b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
inline F32x16 sub(F32x16 a, F32x16 b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
inline F32x16 mul(F32x16 a, F32x16 b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline F32x16 div(F32x16 a, F32x16 b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline F32x16 min(F32x16 a, F32x16 b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
inline F32x16 max(F32x16 a, F32x16 b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
inline F32x16 absolute(F32x16 a) {
  const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  return {_mm256_and_ps(a.low, magnitude), _mm256_and_ps(a.high, magnitude)};
}

inline I32x16 load_i32(const std::int32_t* p) { return {load_half(p), load_half(p + 8)}; }
inline void store_i32(std::int32_t* p, I32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), a.high);
}
inline I32x16 broadcast_i32(std::int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
inline I32x16 add(I32x16 a, I32x16 b) { return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)}; }
inline I32x16 sub(I32x16 a, I32x16 b) { return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)}; }
inline I32x16 max(I32x16 a, I32x16 b) { return {_mm256_max_epi32(a.low, b.low), _mm256_max_epi32(a.high, b.high)}; }
inline I32x16 min(I32x16 a, I32x16 b) { return {_mm256_min_epi32(a.low, b.low), _mm256_min_epi32(a.high, b.high)}; }
inline I32x16 max_unsigned(I32x16 a, I32x16 b) {
  return {_mm256_max_epu32(a.low, b.low), _mm256_max_epu32(a.high, b.high)};
}
inline I32x16 bit_and(I32x16 a, I32x16 b) { return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)}; }
inline I32x16 bit_or(I32x16 a, I32x16 b) { return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)}; }
template <int count>
inline I32x16 shift_left(I32x16 a) {
  return {_mm256_slli_epi32(a.low, count), _mm256_slli_epi32(a.high, count)};
}
template <int count>
inline I32x16 shift_right(I32x16 a) {
  return {_mm256_srli_epi32(a.low, count), _mm256_srli_epi32(a.high, count)};
}
inline I32x16 min_unsigned(I32x16 a, I32x16 b) {
  return {_mm256_min_epu32(a.low, b.low), _mm256_min_epu32(a.high, b.high)};
}
inline I32x16 load_u16(const std::uint16_t* p) {
  const auto* words = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtepu16_epi32(_mm_loadu_si128(words)), _mm256_cvtepu16_epi32(_mm_loadu_si128(words + 1))};
}
inline I32x16 load_u16_first(const std::uint16_t* p, int n) {
  alignas(32) std::uint16_t all[kLanes] = {};
  for (int i = 0; i < n; ++i) all[i] = p[i];
  return load_u16(all);
}
inline I32x16 load_pairs(const std::uint16_t* p) { return {load_half(p), load_half(p + 16)}; }

inline I32x16 join_halves(I32x16 low, I32x16 high) {
  const I32x16 shifted = shift_left<16>(high);
  return {_mm256_blend_epi16(low.low, shifted.low, 0xaa), _mm256_blend_epi16(low.high, shifted.high, 0xaa)};
}
inline I32x16 add_products_of_halves(I32x16 sum, I32x16 a, I32x16 b) {
  return {_mm256_add_epi32(sum.low, _mm256_madd_epi16(a.low, b.low)),
          _mm256_add_epi32(sum.high, _mm256_madd_epi16(a.high, b.high))};
}

inline F32x16 to_f32(I32x16 a) { return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)}; }
inline I32x16 round_to_i32(F32x16 a) { return {_mm256_cvtps_epi32(a.low), _mm256_cvtps_epi32(a.high)}; }
inline I32x16 bits(F32x16 a) { return {_mm256_castps_si256(a.low), _mm256_castps_si256(a.high)}; }
inline F32x16 from_bits(I32x16 a) { return {_mm256_castsi256_ps(a.low), _mm256_castsi256_ps(a.high)}; }

inline __m128i to_bytes(I32x16 a) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(a.low, a.high), 0xd8);
  return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}
inline void store_u8(std::uint8_t* p, I32x16 a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), to_bytes(a)); }
inline void store_u8_first(std::uint8_t* p, I32x16 a, int n) {
  alignas(16) std::uint8_t all[kLanes];
  _mm_store_si128(reinterpret_cast<__m128i*>(all), to_bytes(a));
  for (int i = 0; i < n; ++i) p[i] = all[i];
}
inline __m256i to_bytes(I32x16 a, I32x16 b) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(a.low, a.high), _mm256_packs_epi32(b.low, b.high));
  return _mm256_permutevar8x32_epi32(bytes, order);
}
inline void store_four_u8(std::uint8_t* p, const I32x16 (&a)[4]) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_bytes(a[0], a[1]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), to_bytes(a[2], a[3]));
}
inline __m256i to_words(I32x16 a) { return _mm256_permute4x64_epi64(_mm256_packus_epi32(a.low, a.high), 0xd8); }
inline void store_u16(std::uint16_t* p, I32x16 a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_words(a)); }
inline void store_u16_first(std::uint16_t* p, I32x16 a, int n) {
  alignas(32) std::uint16_t all[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(all), to_words(a));
  for (int i = 0; i < n; ++i) p[i] = all[i];
}

inline float reduce_add(F32x16 a) {
  const __m256 eight = _mm256_add_ps(a.low, a.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float reduce_max(F32x16 a) {
  const __m256 eight = _mm256_max_ps(a.low, a.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
inline std::int32_t reduce_max(I32x16 a) {
  const __m256i eight = _mm256_max_epi32(a.low, a.high);
  const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

inline std::int32_t reduce_max_unsigned(I32x16 a) {
  const __m256i eight = _mm256_max_epu32(a.low, a.high);
  const __m128i four = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epu32(two, _mm_shuffle_epi32(two, 0xb1)));
}

/// Of eight rows, their halves already one: as reduce_add, two rows side by side in each step.
template <class Op>
inline __m256 reduce_each(const __m256 (&rows)[8], Op op) {
  // Rows `first` and first + 4 in one 128-bit lane each.
  const auto halves = [&](int first) {
    return op(_mm256_permute2f128_ps(rows[first], rows[first + 4], 0x20),
              _mm256_permute2f128_ps(rows[first], rows[first + 4], 0x31));
  };
  const auto pairs = [&](int first) {
    const __m256 even = halves(first);
    const __m256 odd = halves(first + 1);
    return op(_mm256_unpacklo_ps(even, odd), _mm256_unpackhi_ps(even, odd));
  };
  const __m256d low = _mm256_castps_pd(pairs(0));
  const __m256d high = _mm256_castps_pd(pairs(2));
  return op(_mm256_castpd_ps(_mm256_unpacklo_pd(low, high)), _mm256_castpd_ps(_mm256_unpackhi_pd(low, high)));
}
template <class Op>
inline F32x16 reduce_each_of(const F32x16 (&rows)[kLanes], Op op) {
  __m256 joined[2][8];
  for (int i = 0; i < kLanes; ++i) joined[i / 8][i % 8] = op(rows[i].low, rows[i].high);
  return {reduce_each(joined[0], op), reduce_each(joined[1], op)};
}
inline F32x16 reduce_max_of_each(const F32x16 (&rows)[kLanes]) {
  return reduce_each_of(rows, [](__m256 a, __m256 b) { return _mm256_max_ps(a, b); });
}
inline F32x16 reduce_add_of_each(const F32x16 (&rows)[kLanes]) {
  return reduce_each_of(rows, [](__m256 a, __m256 b) { return _mm256_add_ps(a, b); });
}
/// The same on integers.
template <class Op>
inline I32x16 reduce_each_i32(const I32x16 (&rows)[kLanes], Op op) {
  F32x16 all[kLanes];
  for (int i = 0; i < kLanes; ++i) all[i] = from_bits(rows[i]);
  return bits(reduce_each_of(all, [&](__m256 a, __m256 b) {
    return _mm256_castsi256_ps(op(_mm256_castps_si256(a), _mm256_castps_si256(b)));
  }));
}
inline I32x16 reduce_max_of_each(const I32x16 (&rows)[kLanes]) {
  return reduce_each_i32(rows, [](__m256i a, __m256i b) { return _mm256_max_epi32(a, b); });
}
inline I32x16 max_halves(I32x16 a, I32x16 b) {
  return {_mm256_max_epu16(a.low, b.low), _mm256_max_epu16(a.high, b.high)};
}
inline I32x16 max_halves_of_each(const I32x16 (&rows)[kLanes]) {
  return reduce_each_i32(rows, [](__m256i a, __m256i b) { return _mm256_max_epu16(a, b); });
}

inline void transpose_8x8(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  __m256 row[8];
  for (int i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(in + i * in_stride);
  for (int i = 0; i < 8; i += 4) {
    const __m256 a = _mm256_unpacklo_ps(row[i], row[i + 1]);
    const __m256 b = _mm256_unpackhi_ps(row[i], row[i + 1]);
    const __m256 c = _mm256_unpacklo_ps(row[i + 2], row[i + 3]);
    const __m256 d = _mm256_unpackhi_ps(row[i + 2], row[i + 3]);
    row[i] = _mm256_shuffle_ps(a, c, 0x44);
    row[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
    row[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
    row[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
  }
  for (int r = 0; r < 4; ++r) {
    _mm256_storeu_ps(out + r * out_stride, _mm256_permute2f128_ps(row[r], row[4 + r], 0x20));
    _mm256_storeu_ps(out + (4 + r) * out_stride, _mm256_permute2f128_ps(row[r], row[4 + r], 0x31));
  }
}

inline void transpose_16x8(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  transpose_8x8(in, in_stride, out, out_stride);
  transpose_8x8(in + 8 * in_stride, in_stride, out + 8, out_stride);
}

inline void transpose_16x16(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  transpose_8x8(in, in_stride, out, out_stride);
  transpose_8x8(in + 8, in_stride, out + 8 * out_stride, out_stride);
  transpose_8x8(in + 8 * in_stride, in_stride, out + 8, out_stride);
  transpose_8x8(in + 8 * in_stride + 8, in_stride, out + 8 * out_stride + 8, out_stride);
}

}  // namespace
}  // namespace weir::kernels
