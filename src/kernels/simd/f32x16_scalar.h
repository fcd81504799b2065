// The portable twin of f32x16_avx2.h and f32x16_avx512.h: sixteen floats at a time, as plain C++.
//
// The three headers define the same types and functions with the same bits: every operation is one IEEE operation
// rounded to nearest, multiply-adds are fused only where fma() says so, and reductions add in one fixed tree
// (lanes i and i+8, then i+4, i+2, i+1). An algorithm written on them therefore gives the same bits on every ISA.
//
// All names have internal linkage: each kernel source includes exactly one of the three, and a copy compiled with
// AVX-512 must never be the one that the linker keeps for a source compiled without.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir::kernels {
namespace {

constexpr int kLanes = 16;

struct F32x16 {
  float lane[kLanes];
};
struct I32x16 {
  std::int32_t lane[kLanes];
};

template <class V, class F>
inline V map_lanes(F f) {
  V result;
  for (int i = 0; i < kLanes; ++i) result.lane[i] = f(i);
  return result;
}

inline F32x16 broadcast(float x) {
  return map_lanes<F32x16>([=](int) { return x; });
}
inline F32x16 load(const float* p) {
  return map_lanes<F32x16>([=](int i) { return p[i]; });
}
/// The first `n` lanes from memory, the others zero.
inline F32x16 load_first(const float* p, int n) {
  return map_lanes<F32x16>([=](int i) { return i < n ? p[i] : 0.0f; });
}
inline void store(float* p, F32x16 a) {
  for (int i = 0; i < kLanes; ++i) p[i] = a.lane[i];
}
inline void store_first(float* p, F32x16 a, int n) {
  for (int i = 0; i < n; ++i) p[i] = a.lane[i];
}
/// Lanes from `n` on become zero.
inline F32x16 keep_first(F32x16 a, int n) {
  return map_lanes<F32x16>([=](int i) { return i < n ? a.lane[i] : 0.0f; });
}

/// Lanes from `n` on become those of `other`.
inline F32x16 replace_from(F32x16 a, int n, F32x16 other) {
  return map_lanes<F32x16>([=](int i) { return i < n ? a.lane[i] : other.lane[i]; });
}

inline F32x16 add(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([=](int i) { return a.lane[i] + b.lane[i]; });
}
inline F32x16 sub(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([=](int i) { return a.lane[i] - b.lane[i]; });
}
inline F32x16 mul(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([=](int i) { return a.lane[i] * b.lane[i]; });
}
inline F32x16 div(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([=](int i) { return a.lane[i] / b.lane[i]; });
}
/// a * b + c, rounded once.
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return map_lanes<F32x16>([=](int i) { return std::fma(a.lane[i], b.lane[i], c.lane[i]); });
}
/// The second operand where either is NaN, as x86 does.
inline F32x16 min(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([=](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline F32x16 max(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([=](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline F32x16 absolute(F32x16 a) {
  return map_lanes<F32x16>([=](int i) { return std::fabs(a.lane[i]); });
}

// By copies of bytes, as vector instructions do: memory may have held numbers of another type.
inline I32x16 load_i32(const std::int32_t* p) {
  I32x16 all;
  std::memcpy(all.lane, p, sizeof all.lane);
  return all;
}
inline void store_i32(std::int32_t* p, I32x16 a) { std::memcpy(p, a.lane, sizeof a.lane); }
inline I32x16 broadcast_i32(std::int32_t x) {
  return map_lanes<I32x16>([=](int) { return x; });
}
inline I32x16 add(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.lane[i]) + static_cast<std::uint32_t>(b.lane[i]));
  });
}
inline I32x16 max(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline I32x16 min(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
/// As max, of lanes without sign.
inline I32x16 max_unsigned(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) {
    return static_cast<std::uint32_t>(a.lane[i]) > static_cast<std::uint32_t>(b.lane[i]) ? a.lane[i] : b.lane[i];
  });
}
inline I32x16 bit_and(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) { return a.lane[i] & b.lane[i]; });
}
inline I32x16 bit_or(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) { return a.lane[i] | b.lane[i]; });
}
template <int count>
inline I32x16 shift_left(I32x16 a) {
  return map_lanes<I32x16>(
      [=](int i) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.lane[i]) << count); });
}
/// Zeros move in from the left.
template <int count>
inline I32x16 shift_right(I32x16 a) {
  return map_lanes<I32x16>(
      [=](int i) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.lane[i]) >> count); });
}
/// The lesser one, the numbers taken without sign.
inline I32x16 min_unsigned(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) {
    return static_cast<std::uint32_t>(a.lane[i]) < static_cast<std::uint32_t>(b.lane[i]) ? a.lane[i] : b.lane[i];
  });
}
/// The first `n` 16-bit numbers of memory, the other lanes zero.
inline I32x16 load_u16_first(const std::uint16_t* p, int n) {
  return map_lanes<I32x16>([=](int i) { return i < n ? std::int32_t{p[i]} : 0; });
}
inline I32x16 load_u16(const std::uint16_t* p) { return load_u16_first(p, kLanes); }
/// Sixteen pairs of 16-bit numbers, the first of each pair in the low half.
inline I32x16 load_pairs(const std::uint16_t* p) {
  return map_lanes<I32x16>([=](int i) {
    std::int32_t pair = 0;
    std::memcpy(&pair, p + 2 * i, sizeof pair);
    return pair;
  });
}

/// The low halves of two vectors side by side, those of `low` in the low half of each lane.
inline I32x16 join_halves(I32x16 low, I32x16 high) {
  return bit_or(bit_and(low, broadcast_i32(0xffff)), shift_left<16>(high));
}
inline I32x16 sub(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.lane[i]) - static_cast<std::uint32_t>(b.lane[i]));
  });
}
/// sum + a.low * b.low + a.high * b.high in each lane, the halves being 16-bit numbers with sign.
inline I32x16 add_products_of_halves(I32x16 sum, I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) {
    const auto low = [](std::int32_t pair) { return std::int32_t{static_cast<std::int16_t>(pair)}; };
    const std::int32_t products = low(a.lane[i]) * low(b.lane[i]) + (a.lane[i] >> 16) * (b.lane[i] >> 16);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum.lane[i]) + static_cast<std::uint32_t>(products));
  });
}

inline F32x16 to_f32(I32x16 a) {
  return map_lanes<F32x16>([=](int i) { return static_cast<float>(a.lane[i]); });
}
/// To the nearest integer, ties to even. What does not fit, and NaN, becomes the least integer.
inline I32x16 round_to_i32(F32x16 a) {
  return map_lanes<I32x16>([=](int i) {
    const float rounded = std::nearbyint(a.lane[i]);
    const bool fits = rounded >= -2147483648.0f && rounded < 2147483648.0f;
    return fits ? static_cast<std::int32_t>(rounded) : INT32_MIN;
  });
}
inline I32x16 bits(F32x16 a) {
  return map_lanes<I32x16>([=](int i) { return std::bit_cast<std::int32_t>(a.lane[i]); });
}
inline F32x16 from_bits(I32x16 a) {
  return map_lanes<F32x16>([=](int i) { return std::bit_cast<float>(a.lane[i]); });
}

/// The low byte of each of the first `n` lanes; lanes must be within 0..255.
inline void store_u8_first(std::uint8_t* p, I32x16 a, int n) {
  for (int i = 0; i < n; ++i) p[i] = static_cast<std::uint8_t>(a.lane[i]);
}
inline void store_u8(std::uint8_t* p, I32x16 a) { store_u8_first(p, a, kLanes); }
/// 64 bytes from four vectors whose lanes are within 0..255.
inline void store_four_u8(std::uint8_t* p, const I32x16 (&a)[4]) {
  for (int v = 0; v < 4; ++v) store_u8(p + v * kLanes, a[v]);
}
/// The low halves of the first `n` lanes, which must be within 0..65535.
inline void store_u16_first(std::uint16_t* p, I32x16 a, int n) {
  for (int i = 0; i < n; ++i) p[i] = static_cast<std::uint16_t>(a.lane[i]);
}
inline void store_u16(std::uint16_t* p, I32x16 a) { store_u16_first(p, a, kLanes); }

inline float reduce_add(F32x16 a) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) a.lane[i] += a.lane[i + width];
  }
  return a.lane[0];
}
inline float reduce_max(F32x16 a) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) a.lane[i] = a.lane[i] > a.lane[i + width] ? a.lane[i] : a.lane[i + width];
  }
  return a.lane[0];
}
inline std::int32_t reduce_max(I32x16 a) {
  std::int32_t result = a.lane[0];
  for (int i = 1; i < kLanes; ++i) result = a.lane[i] > result ? a.lane[i] : result;
  return result;
}

inline std::int32_t reduce_max_unsigned(I32x16 a) {
  std::uint32_t result = 0;
  for (const std::int32_t lane : a.lane)
    result = static_cast<std::uint32_t>(lane) > result ? static_cast<std::uint32_t>(lane) : result;
  return static_cast<std::int32_t>(result);
}

/// The greater of the low and of the high halves, the halves being 16-bit numbers without sign.
inline I32x16 max_halves(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([=](int i) {
    const auto x = static_cast<std::uint32_t>(a.lane[i]);
    const auto y = static_cast<std::uint32_t>(b.lane[i]);
    const std::uint32_t low = (x & 0xffff) > (y & 0xffff) ? x & 0xffff : y & 0xffff;
    const std::uint32_t high = (x >> 16) > (y >> 16) ? x >> 16 : y >> 16;
    return static_cast<std::int32_t>(high << 16 | low);
  });
}
/// Lane r is max_halves over all lanes of rows[r].
inline I32x16 max_halves_of_each(const I32x16 (&rows)[kLanes]) {
  return map_lanes<I32x16>([&](int i) {
    I32x16 all = broadcast_i32(0);
    for (const std::int32_t lane : rows[i].lane) all = max_halves(all, broadcast_i32(lane));
    return all.lane[0];
  });
}
/// Lane r is what reduce_max or reduce_add gives of rows[r].
inline I32x16 reduce_max_of_each(const I32x16 (&rows)[kLanes]) {
  return map_lanes<I32x16>([&](int i) { return reduce_max(rows[i]); });
}
inline F32x16 reduce_max_of_each(const F32x16 (&rows)[kLanes]) {
  return map_lanes<F32x16>([&](int i) { return reduce_max(rows[i]); });
}
inline F32x16 reduce_add_of_each(const F32x16 (&rows)[kLanes]) {
  return map_lanes<F32x16>([&](int i) { return reduce_add(rows[i]); });
}

/// out[j][i] = in[i][j] for 16 rows of 8; moves bits and computes nothing.
inline void transpose_16x8(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    for (std::size_t j = 0; j < 8; ++j) std::memcpy(out + j * out_stride + i, in + i * in_stride + j, sizeof(float));
  }
}
/// out[j][i] = in[i][j] for a block of 16 x 16; moves bits and computes nothing.
inline void transpose_16x16(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < kLanes; ++j) std::memcpy(out + j * out_stride + i, in + i * in_stride + j, sizeof(float));
  }
}

}  // namespace
}  // namespace weir::kernels
