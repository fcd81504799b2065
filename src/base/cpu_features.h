// The instruction sets that this machine's CPU has and its operating system lets a process use. Values and pure
// functions over register contents, so that choices can be tested for CPUs the machine lacks. Any thread.
//
// WEIR_ISA restricts what may be used: a comma-separated list of names, each with all that it builds on
// (`WEIR_ISA=avx2` → sse4_2, avx2, fma), or `scalar` for none. What the CPU lacks is refused.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::cpu {

enum class Feature : std::uint8_t {
  // x86-64
  kSse42,
  kAvx2,
  kFma,
  kAvxVnni,
  kAvx512F,
  kAvx512Bw,
  kAvx512Vl,
  kAvx512Dq,
  kAvx512Vnni,
  kAvx512Bf16,
  kAvx512Fp16,
  kAmxTile,
  kAmxInt8,
  kAmxBf16,
  // arm64
  kNeon,
  kDotprod,
  kI8mm,
  kBf16,
  kSve,
};
inline constexpr int kFeatureCount = static_cast<int>(Feature::kSve) + 1;

/// A lower-case name such as "avx512_vnni".
std::string_view feature_name(Feature feature);

/// A set of features.
class Features {
 public:
  constexpr Features() = default;
  constexpr Features(std::initializer_list<Feature> features) {
    for (const Feature feature : features) add(feature);
  }

  constexpr void add(Feature feature) { bits_ |= bit(feature); }
  constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  constexpr bool contains(Features other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr Features united(Features other) const { return Features(bits_ | other.bits_); }
  constexpr Features without(Features other) const { return Features(bits_ & ~other.bits_); }
  constexpr bool operator==(const Features&) const = default;

  std::vector<Feature> list() const;

 private:
  constexpr explicit Features(std::uint64_t bits) : bits_(bits) {}
  static constexpr std::uint64_t bit(Feature feature) { return std::uint64_t{1} << static_cast<int>(feature); }

  std::uint64_t bits_ = 0;
};

/// "sse4_2,avx2,fma"; "scalar" for the empty set.
std::string format_features(Features features);

/// The inverse. Case does not matter, and '-' and '.' are taken for '_'. Names are not completed with what they build
/// on. kInvalidArgument names the unknown one and all known ones.
Result<Features> parse_features(std::string_view text);

/// `features` and all that they build on.
Features with_prerequisites(Features features);

/// What `override_text` (the value of WEIR_ISA) leaves of `detected`; all of it when empty. kInvalidArgument when a
/// name is unknown or the CPU lacks it.
Result<Features> restrict_features(std::string_view override_text, Features detected);

/// What the CPU and the operating system offer. Asks once, and with it for the permission to use AMX tiles.
Features detected();

/// detected(), restricted by the environment variable WEIR_ISA as it is now.
Result<Features> enabled();

/// Contents of the registers that detection reads on x86-64.
struct X86Registers {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;  ///< Leaf 7, subleaf 1.
  std::uint64_t xcr0 = 0;         ///< Register state that the operating system saves; 0 without OSXSAVE.
  bool amx_permitted = false;     ///< The kernel granted this process the tile data.
};
Features decode_x86(const X86Registers& registers);

/// From AT_HWCAP and AT_HWCAP2 on arm64.
Features decode_arm64(std::uint64_t hwcap, std::uint64_t hwcap2);

}  // namespace weir::cpu
