#include "base/cpu_features.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace weir::cpu {
namespace {

struct Row {
  Feature feature;
  std::string_view name;
  Features needs;  ///< Direct prerequisites.
};

using enum Feature;

/// In the order of the enum. AVX2 brings FMA along: no CPU has one without the other, and no kernel uses one alone.
constexpr std::array<Row, kFeatureCount> kTable = {{
    {kSse42, "sse4_2", {}},
    {kAvx2, "avx2", {kSse42, kFma}},
    {kFma, "fma", {kSse42}},
    {kAvxVnni, "avx_vnni", {kAvx2}},
    {kAvx512F, "avx512f", {kAvx2}},
    {kAvx512Bw, "avx512bw", {kAvx512F}},
    {kAvx512Vl, "avx512vl", {kAvx512F}},
    {kAvx512Dq, "avx512dq", {kAvx512F}},
    {kAvx512Vnni, "avx512_vnni", {kAvx512Bw, kAvx512Vl, kAvx512Dq}},
    {kAvx512Bf16, "avx512_bf16", {kAvx512Bw, kAvx512Vl, kAvx512Dq}},
    {kAvx512Fp16, "avx512_fp16", {kAvx512Bw, kAvx512Vl, kAvx512Dq}},
    {kAmxTile, "amx_tile", {kAvx512Vnni}},
    {kAmxInt8, "amx_int8", {kAmxTile}},
    {kAmxBf16, "amx_bf16", {kAmxTile}},
    {kNeon, "neon", {}},
    {kDotprod, "dotprod", {kNeon}},
    {kI8mm, "i8mm", {kNeon}},
    {kBf16, "bf16", {kNeon}},
    {kSve, "sve", {kNeon}},
}};

constexpr bool in_order() {
  for (int i = 0; i < kFeatureCount; ++i) {
    if (static_cast<int>(kTable[i].feature) != i) return false;
  }
  return true;
}
static_assert(in_order());

constexpr std::string_view kNoFeatures = "scalar";

const Row& row_of(Feature feature) { return kTable[static_cast<std::size_t>(feature)]; }

std::string normalized(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '\t') continue;
    if (c == '-' || c == '.')
      out += '_';
    else if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
    else
      out += c;
  }
  return out;
}

std::optional<Feature> find(std::string_view name) {
  for (const Row& row : kTable) {
    if (row.name == name) return row.feature;
  }
  return std::nullopt;
}

std::string known_names() {
  std::string out(kNoFeatures);
  for (const Row& row : kTable) out.append(", ").append(row.name);
  return out;
}

bool bit_set(std::uint64_t value, int bit) { return ((value >> bit) & 1) != 0; }

/// Adds `feature` if bit `bit` of `value` is set.
void add_if(Features& features, Feature feature, std::uint64_t value, int bit) {
  if (bit_set(value, bit)) features.add(feature);
}

}  // namespace

std::string_view feature_name(Feature feature) { return row_of(feature).name; }

std::vector<Feature> Features::list() const {
  std::vector<Feature> out;
  for (const Row& row : kTable) {
    if (has(row.feature)) out.push_back(row.feature);
  }
  return out;
}

std::string format_features(Features features) {
  std::string out;
  for (const Feature feature : features.list()) {
    if (!out.empty()) out += ',';
    out += feature_name(feature);
  }
  return out.empty() ? std::string(kNoFeatures) : out;
}

Result<Features> parse_features(std::string_view text) {
  Features features;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string name = normalized(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (name.empty() || name == kNoFeatures) continue;
    const std::optional<Feature> feature = find(name);
    if (!feature) {
      return Error(ErrorKind::kInvalidArgument, "unknown instruction set '" + name + "'; known are " + known_names());
    }
    features.add(*feature);
  }
  return features;
}

Features with_prerequisites(Features features) {
  for (Features before; before != features;) {
    before = features;
    for (const Feature feature : before.list()) features = features.united(row_of(feature).needs);
  }
  return features;
}

Result<Features> restrict_features(std::string_view override_text, Features detected) {
  if (override_text.empty()) return detected;
  Result<Features> wanted = parse_features(override_text);
  if (!wanted.ok()) return Error(ErrorKind::kInvalidArgument, "WEIR_ISA: " + wanted.error().message, "WEIR_ISA");
  const Features all = with_prerequisites(*wanted);
  if (!detected.contains(all)) {
    return Error(ErrorKind::kInvalidArgument,
                 "WEIR_ISA asks for " + format_features(all.without(detected)) +
                     ", which this CPU does not have; it has " + format_features(detected),
                 "WEIR_ISA");
  }
  return all;
}

Features decode_x86(const X86Registers& r) {
  Features features;
  add_if(features, kSse42, r.leaf1_ecx, 20);

  // Registers that the operating system does not save between threads must not be touched.
  constexpr std::uint64_t kAvxState = 0x6;
  constexpr std::uint64_t kAvx512State = 0xE6;
  constexpr std::uint64_t kAmxState = 0x60000;
  const bool avx = (r.xcr0 & kAvxState) == kAvxState && bit_set(r.leaf1_ecx, 28);
  if (!avx) return features;
  add_if(features, kFma, r.leaf1_ecx, 12);
  add_if(features, kAvx2, r.leaf7_ebx, 5);
  add_if(features, kAvxVnni, r.leaf7_1_eax, 4);

  if ((r.xcr0 & kAvx512State) != kAvx512State || !bit_set(r.leaf7_ebx, 16)) return features;
  features.add(kAvx512F);
  add_if(features, kAvx512Dq, r.leaf7_ebx, 17);
  add_if(features, kAvx512Bw, r.leaf7_ebx, 30);
  add_if(features, kAvx512Vl, r.leaf7_ebx, 31);
  add_if(features, kAvx512Vnni, r.leaf7_ecx, 11);
  add_if(features, kAvx512Bf16, r.leaf7_1_eax, 5);
  add_if(features, kAvx512Fp16, r.leaf7_edx, 23);

  if ((r.xcr0 & kAmxState) != kAmxState || !r.amx_permitted || !bit_set(r.leaf7_edx, 24)) return features;
  features.add(kAmxTile);
  add_if(features, kAmxBf16, r.leaf7_edx, 22);
  add_if(features, kAmxInt8, r.leaf7_edx, 25);
  return features;
}

Features decode_arm64(std::uint64_t hwcap, std::uint64_t hwcap2) {
  // Bits of the kernel's asm/hwcap.h for arm64, which other machines do not have.
  Features features;
  add_if(features, kNeon, hwcap, 1);
  add_if(features, kDotprod, hwcap, 20);
  add_if(features, kSve, hwcap, 22);
  add_if(features, kI8mm, hwcap2, 13);
  add_if(features, kBf16, hwcap2, 14);
  return features;
}

#if defined(__x86_64__)
namespace {

std::uint64_t read_xcr0() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  // The instruction by its bytes: the intrinsic would need a flag for the whole file.
  __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

/// Linux gives the tile data only to processes that ask for it. Threads started later inherit the permission.
bool request_amx() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

X86Registers read_registers() {
  X86Registers r;
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) r.leaf1_ecx = ecx;
  std::uint32_t subleaves = 0;
  if (__get_cpuid_count(7, 0, &subleaves, &r.leaf7_ebx, &r.leaf7_ecx, &r.leaf7_edx) != 0 && subleaves >= 1) {
    __get_cpuid_count(7, 1, &r.leaf7_1_eax, &ebx, &ecx, &edx);
  }
  constexpr int kOsXsaveBit = 27;
  if (bit_set(r.leaf1_ecx, kOsXsaveBit)) r.xcr0 = read_xcr0();
  constexpr int kAmxTileBit = 24;
  r.amx_permitted = bit_set(r.leaf7_edx, kAmxTileBit) && request_amx();
  return r;
}

}  // namespace

Features detected() {
  static const Features features = decode_x86(read_registers());
  return features;
}
#elif defined(__aarch64__)
Features detected() {
  static const Features features = decode_arm64(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
  return features;
}
#else
Features detected() { return {}; }
#endif

Result<Features> enabled() {
  const char* const override_text = std::getenv("WEIR_ISA");
  return restrict_features(override_text == nullptr ? "" : override_text, detected());
}

}  // namespace weir::cpu
