// The groups of CPU features that kernel variants require, one per row of flags in cmake/WeirIsa.cmake, and the rule by
// which every family picks its variant. Kernels never look at the CPU themselves: their `choose` functions take the
// features as an argument (callers pass cpu::enabled()), so a choice can be tested for CPUs that the machine lacks.
#pragma once

#include <span>

#include "base/cpu_features.h"

namespace weir::kernels {

inline constexpr cpu::Features kNeedsNothing = {};
inline constexpr cpu::Features kNeedsAvx2 = {cpu::Feature::kAvx2, cpu::Feature::kFma};
inline constexpr cpu::Features kNeedsAvxVnni = kNeedsAvx2.united({cpu::Feature::kAvxVnni});
inline constexpr cpu::Features kNeedsAvx512 = kNeedsAvx2.united(
    {cpu::Feature::kAvx512F, cpu::Feature::kAvx512Bw, cpu::Feature::kAvx512Dq, cpu::Feature::kAvx512Vl});
inline constexpr cpu::Features kNeedsAvx512Vnni = kNeedsAvx512.united({cpu::Feature::kAvx512Vnni});
inline constexpr cpu::Features kNeedsAvx512Bf16 = kNeedsAvx512.united({cpu::Feature::kAvx512Bf16});
inline constexpr cpu::Features kNeedsAmxInt8 =
    kNeedsAvx512Vnni.united({cpu::Feature::kAmxTile, cpu::Feature::kAmxInt8});
inline constexpr cpu::Features kNeedsAmxBf16 =
    kNeedsAvx512Bf16.united({cpu::Feature::kAmxTile, cpu::Feature::kAmxBf16});

/// The first variant whose required features `features` holds. `variants` is ordered best first and its last one
/// requires nothing.
template <class Variant>
const Variant& choose_variant(std::span<const Variant> variants, cpu::Features features) {
  for (const Variant& variant : variants) {
    if (features.contains(variant.required)) return variant;
  }
  return variants.back();
}

}  // namespace weir::kernels
