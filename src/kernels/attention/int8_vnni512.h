// The form for vpdpbusd and vpdpwssd on zmm registers.
#pragma once

#include "kernels/attention/attention.h"

namespace weir::kernels {
namespace {

constexpr int kQueryRows = 12;
constexpr int kScoreVectors = 4;
constexpr int kAccumulators = 24;

}  // namespace
}  // namespace weir::kernels

#include "kernels/attention/int8_pairs.h"

namespace weir::kernels {
namespace {

struct Vnni512 {
  static I32x16 dot_bytes(I32x16 sum, I32x16 x, I32x16 factor) { return {_mm512_dpbusd_epi32(sum.v, x.v, factor.v)}; }
  static I32x16 dot_pairs(I32x16 sum, I32x16 x, I32x16 factor) { return {_mm512_dpwssd_epi32(sum.v, x.v, factor.v)}; }
};

}  // namespace
}  // namespace weir::kernels
