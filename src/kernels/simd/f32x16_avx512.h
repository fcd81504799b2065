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
inline F32x16 replace_from(F32x16 a, int n, F32x16 other) { return {_mm512_mask_mov_ps(other.v, first_lanes(n), a.v)}; }

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
inline I32x16 sub(I32x16 a, I32x16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
inline I32x16 max(I32x16 a, I32x16 b) { return {_mm512_max_epi32(a.v, b.v)}; }
inline I32x16 min(I32x16 a, I32x16 b) { return {_mm512_min_epi32(a.v, b.v)}; }
inline I32x16 max_unsigned(I32x16 a, I32x16 b) { return {_mm512_max_epu32(a.v, b.v)}; }
inline I32x16 bit_and(I32x16 a, I32x16 b) { return {_mm512_and_si512(a.v, b.v)}; }
inline I32x16 bit_or(I32x16 a, I32x16 b) { return {_mm512_or_si512(a.v, b.v)}; }
template <int count>
inline I32x16 shift_left(I32x16 a) {
  return {_mm512_slli_epi32(a.v, count)};
}
template <int count>
inline I32x16 shift_right(I32x16 a) {
  return {_mm512_srli_epi32(a.v, count)};
}
inline I32x16 min_unsigned(I32x16 a, I32x16 b) { return {_mm512_min_epu32(a.v, b.v)}; }
inline I32x16 load_u16(const std::uint16_t* p) {
  return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
inline I32x16 load_u16_first(const std::uint16_t* p, int n) {
  return {_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(first_lanes(n), p))};
}
inline I32x16 load_pairs(const std::uint16_t* p) { return {_mm512_loadu_si512(p)}; }

inline I32x16 join_halves(I32x16 low, I32x16 high) {
  return {_mm512_mask_blend_epi16(0xaaaaaaaa, low.v, _mm512_slli_epi32(high.v, 16))};
}
inline I32x16 add_products_of_halves(I32x16 sum, I32x16 a, I32x16 b) {
  return {_mm512_add_epi32(sum.v, _mm512_madd_epi16(a.v, b.v))};
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
inline void store_four_u8(std::uint8_t* p, const I32x16 (&a)[4]) {
  // Packing takes turns between its operands in each 128-bit lane; the permutation puts their groups of four in order.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_packus_epi16(_mm512_packs_epi32(a[0].v, a[1].v), _mm512_packs_epi32(a[2].v, a[3].v));
  _mm512_storeu_si512(p, _mm512_permutexvar_epi32(order, bytes));
}
inline void store_u16(std::uint16_t* p, I32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(a.v));
}
inline void store_u16_first(std::uint16_t* p, I32x16 a, int n) {
  _mm512_mask_cvtepi32_storeu_epi16(p, first_lanes(n), a.v);
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
inline std::int32_t reduce_max_unsigned(I32x16 a) { return static_cast<std::int32_t>(_mm512_reduce_max_epu32(a.v)); }

/// Four steps, each of which halves what is left of two rows and puts them side by side, in reduce_add's order.
template <class Op>
inline __m512 reduce_each(const __m512 (&rows)[kLanes], Op op) {
  const auto halves = [&](int a, int b) {
    return op(_mm512_shuffle_f32x4(rows[a], rows[b], 0x44), _mm512_shuffle_f32x4(rows[a], rows[b], 0xee));
  };
  // Rows first, first + 4, first + 8, first + 12 in one 128-bit lane each.
  const auto quarters = [&](int first) {
    const __m512 low = halves(first, first + 4);
    const __m512 high = halves(first + 8, first + 12);
    return op(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd));
  };
  const auto pairs = [&](int first) {
    const __m512 even = quarters(first);
    const __m512 odd = quarters(first + 1);
    return op(_mm512_unpacklo_ps(even, odd), _mm512_unpackhi_ps(even, odd));
  };
  const __m512d low = _mm512_castps_pd(pairs(0));
  const __m512d high = _mm512_castps_pd(pairs(2));
  return op(_mm512_castpd_ps(_mm512_unpacklo_pd(low, high)), _mm512_castpd_ps(_mm512_unpackhi_pd(low, high)));
}
/// The same on integers.
template <class Op>
inline I32x16 reduce_each_i32(const I32x16 (&rows)[kLanes], Op op) {
  __m512 all[kLanes];
  for (int i = 0; i < kLanes; ++i) all[i] = _mm512_castsi512_ps(rows[i].v);
  return {_mm512_castps_si512(reduce_each(all, [&](__m512 a, __m512 b) {
    return _mm512_castsi512_ps(op(_mm512_castps_si512(a), _mm512_castps_si512(b)));
  }))};
}
inline I32x16 reduce_max_of_each(const I32x16 (&rows)[kLanes]) {
  return reduce_each_i32(rows, [](__m512i a, __m512i b) { return _mm512_max_epi32(a, b); });
}
inline I32x16 max_halves(I32x16 a, I32x16 b) { return {_mm512_max_epu16(a.v, b.v)}; }
inline I32x16 max_halves_of_each(const I32x16 (&rows)[kLanes]) {
  return reduce_each_i32(rows, [](__m512i a, __m512i b) { return _mm512_max_epu16(a, b); });
}
inline F32x16 reduce_max_of_each(const F32x16 (&rows)[kLanes]) {
  __m512 all[kLanes];
  for (int i = 0; i < kLanes; ++i) all[i] = rows[i].v;
  return {reduce_each(all, [](__m512 a, __m512 b) { return _mm512_max_ps(a, b); })};
}
inline F32x16 reduce_add_of_each(const F32x16 (&rows)[kLanes]) {
  __m512 all[kLanes];
  for (int i = 0; i < kLanes; ++i) all[i] = rows[i].v;
  return {reduce_each(all, [](__m512 a, __m512 b) { return _mm512_add_ps(a, b); })};
}

/// Each 4 x 4 block of a 16 x 16 matrix transposed within its 128-bit lanes.
inline void transpose_lanes(__m512 (&row)[16]) {
  for (int i = 0; i < 16; i += 4) {
    const __m512 a = _mm512_unpacklo_ps(row[i], row[i + 1]);
    const __m512 b = _mm512_unpackhi_ps(row[i], row[i + 1]);
    const __m512 c = _mm512_unpacklo_ps(row[i + 2], row[i + 3]);
    const __m512 d = _mm512_unpackhi_ps(row[i + 2], row[i + 3]);
    row[i] = _mm512_shuffle_ps(a, c, 0x44);
    row[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
    row[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
    row[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
  }
}

inline void transpose_16x8(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  __m512 row[8];  // rows i and i + 8
  for (int i = 0; i < 8; ++i) {
    const __m512 low = _mm512_castps256_ps512(_mm256_loadu_ps(in + i * in_stride));
    row[i] = _mm512_insertf32x8(low, _mm256_loadu_ps(in + (i + 8) * in_stride), 1);
  }
  __m512 part[8];
  for (int i = 0; i < 8; i += 4) {
    const __m512 a = _mm512_unpacklo_ps(row[i], row[i + 1]);
    const __m512 b = _mm512_unpackhi_ps(row[i], row[i + 1]);
    const __m512 c = _mm512_unpacklo_ps(row[i + 2], row[i + 3]);
    const __m512 d = _mm512_unpackhi_ps(row[i + 2], row[i + 3]);
    part[i] = _mm512_shuffle_ps(a, c, 0x44);
    part[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
    part[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
    part[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
  }
  // part[r] holds columns r and r + 4 of the rows 0 ... 3 and 8 ... 11, part[4 + r] those of the other rows.
  const __m512i left = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i right = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  for (int r = 0; r < 4; ++r) {
    const __m512d upper = _mm512_castps_pd(part[r]);
    const __m512d lower = _mm512_castps_pd(part[4 + r]);
    _mm512_storeu_pd(out + r * out_stride, _mm512_permutex2var_pd(upper, left, lower));
    _mm512_storeu_pd(out + (4 + r) * out_stride, _mm512_permutex2var_pd(upper, right, lower));
  }
}

inline void transpose_16x16(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  __m512 row[16];
  for (int i = 0; i < 16; ++i) row[i] = _mm512_loadu_ps(in + i * in_stride);
  transpose_lanes(row);
  // row[4 b + r] holds, in lane l, column 4 l + r of the rows 4 b ... 4 b + 3: a 4 x 4 transpose of lanes remains.
  for (int r = 0; r < 4; ++r) {
    const __m512 a = _mm512_shuffle_f32x4(row[r], row[4 + r], 0x88);
    const __m512 b = _mm512_shuffle_f32x4(row[8 + r], row[12 + r], 0x88);
    const __m512 c = _mm512_shuffle_f32x4(row[r], row[4 + r], 0xdd);
    const __m512 d = _mm512_shuffle_f32x4(row[8 + r], row[12 + r], 0xdd);
    _mm512_storeu_ps(out + r * out_stride, _mm512_shuffle_f32x4(a, b, 0x88));
    _mm512_storeu_ps(out + (8 + r) * out_stride, _mm512_shuffle_f32x4(a, b, 0xdd));
    _mm512_storeu_ps(out + (4 + r) * out_stride, _mm512_shuffle_f32x4(c, d, 0x88));
    _mm512_storeu_ps(out + (12 + r) * out_stride, _mm512_shuffle_f32x4(c, d, 0xdd));
  }
}

}  // namespace
}  // namespace weir::kernels
