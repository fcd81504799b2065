#include "base/cpu_features.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace weir::cpu {
namespace {

using enum Feature;

constexpr Features kAvx512Vnni1 = {kSse42, kAvx2, kFma, kAvx512F, kAvx512Bw, kAvx512Vl, kAvx512Dq, kAvx512Vnni};

/// Every bit that detection looks at.
X86Registers everything() {
  X86Registers r;
  r.leaf1_ecx = ~0u;
  r.leaf7_ebx = ~0u;
  r.leaf7_ecx = ~0u;
  r.leaf7_edx = ~0u;
  r.leaf7_1_eax = ~0u;
  r.xcr0 = ~std::uint64_t{0};
  r.amx_permitted = true;
  return r;
}

TEST(CpuFeatures, FormatAndParseAreInverse) {
  for (int i = 0; i < kFeatureCount; ++i) {
    const Features one{static_cast<Feature>(i)};
    ASSERT_TRUE(parse_features(format_features(one)).ok());
    EXPECT_EQ(*parse_features(format_features(one)), one);
  }
  EXPECT_EQ(format_features({}), "scalar");
  EXPECT_EQ(*parse_features("scalar"), Features());
  EXPECT_EQ(*parse_features(format_features(kAvx512Vnni1)), kAvx512Vnni1);
  EXPECT_EQ(*parse_features(" AVX512-VNNI , sse4.2"), (Features{kAvx512Vnni, kSse42}));
}

TEST(CpuFeatures, AnUnknownNameIsNamed) {
  const Result<Features> result = parse_features("avx2,avx1024");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("'avx1024'"), std::string::npos);
  EXPECT_NE(result.error().message.find("avx512_vnni"), std::string::npos);
}

TEST(CpuFeatures, PrerequisitesAreComplete) {
  EXPECT_EQ(with_prerequisites({kAvx512Vnni}), kAvx512Vnni1);
  EXPECT_EQ(with_prerequisites({kAmxInt8}), kAvx512Vnni1.united({kAmxTile, kAmxInt8}));
  EXPECT_EQ(with_prerequisites({kI8mm}), (Features{kNeon, kI8mm}));
}

TEST(CpuFeatures, OverrideRestricts) {
  EXPECT_EQ(*restrict_features("", kAvx512Vnni1), kAvx512Vnni1);
  EXPECT_EQ(*restrict_features("avx2", kAvx512Vnni1), (Features{kSse42, kAvx2, kFma}));
  EXPECT_EQ(*restrict_features("scalar", kAvx512Vnni1), Features());
}

TEST(CpuFeatures, OverrideRefusesWhatTheCpuLacks) {
  const Result<Features> result = restrict_features("amx_int8", kAvx512Vnni1);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "WEIR_ISA");
  EXPECT_NE(result.error().message.find("amx_tile,amx_int8, which this CPU does not have"), std::string::npos);
  EXPECT_FALSE(restrict_features("neon", kAvx512Vnni1).ok());
  EXPECT_FALSE(restrict_features("nonsense", kAvx512Vnni1).ok());
}

TEST(CpuFeatures, EnabledReadsTheEnvironment) {
  setenv("WEIR_ISA", "scalar", 1);
  EXPECT_EQ(*enabled(), Features());
  setenv("WEIR_ISA", "nonsense", 1);
  EXPECT_FALSE(enabled().ok());
  unsetenv("WEIR_ISA");
  EXPECT_EQ(*enabled(), detected());
}

TEST(CpuFeatures, X86NeedsTheCpuAndTheOperatingSystem) {
  EXPECT_EQ(decode_x86({}), Features());
  X86Registers r = everything();
  EXPECT_EQ(decode_x86(r), kAvx512Vnni1.united({kAvxVnni, kAvx512Bf16, kAvx512Fp16, kAmxTile, kAmxInt8, kAmxBf16}));
  r.amx_permitted = false;
  EXPECT_FALSE(decode_x86(r).has(kAmxTile));
  EXPECT_TRUE(decode_x86(r).has(kAvx512Fp16));
  r.xcr0 = 0x7;  // no AVX-512 state
  EXPECT_EQ(decode_x86(r), (Features{kSse42, kAvx2, kFma, kAvxVnni}));
  r.xcr0 = 0x3;  // no AVX state
  EXPECT_EQ(decode_x86(r), (Features{kSse42}));
}

TEST(CpuFeatures, X86BitsByTheManual) {
  X86Registers haswell;
  haswell.leaf1_ecx = (1u << 12) | (1u << 20) | (1u << 27) | (1u << 28);
  haswell.leaf7_ebx = 1u << 5;
  haswell.xcr0 = 0x7;
  EXPECT_EQ(decode_x86(haswell), (Features{kSse42, kAvx2, kFma}));

  X86Registers cascade_lake = haswell;
  cascade_lake.leaf7_ebx |= (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31);
  cascade_lake.leaf7_ecx = 1u << 11;
  cascade_lake.xcr0 = 0xE7;
  EXPECT_EQ(decode_x86(cascade_lake), kAvx512Vnni1);

  X86Registers no_512 = cascade_lake;
  no_512.leaf7_ebx &= ~(1u << 16);  // the parts without the foundation are worth nothing
  EXPECT_EQ(decode_x86(no_512), (Features{kSse42, kAvx2, kFma}));
}

TEST(CpuFeatures, Arm64BitsByTheKernel) {
  EXPECT_EQ(decode_arm64(0, 0), Features());
  EXPECT_EQ(decode_arm64(1u << 1, 0), (Features{kNeon}));
  EXPECT_EQ(decode_arm64((1u << 1) | (1u << 20) | (1u << 22), (1u << 13) | (1u << 14)),
            (Features{kNeon, kDotprod, kI8mm, kBf16, kSve}));
}

#if defined(__x86_64__)
TEST(CpuFeatures, DetectionAgreesWithTheKernel) {
  std::ifstream file("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(file, line) && flags.empty();) {
    if (line.starts_with("flags")) flags = line + " ";
  }
  const std::pair<Feature, const char*> names[] = {{kSse42, "sse4_2"},
                                                   {kAvx2, "avx2"},
                                                   {kFma, "fma"},
                                                   {kAvxVnni, "avx_vnni"},
                                                   {kAvx512F, "avx512f"},
                                                   {kAvx512Bw, "avx512bw"},
                                                   {kAvx512Vl, "avx512vl"},
                                                   {kAvx512Dq, "avx512dq"},
                                                   {kAvx512Vnni, "avx512_vnni"},
                                                   {kAvx512Bf16, "avx512_bf16"},
                                                   {kAvx512Fp16, "avx512_fp16"}};
  for (const auto& [feature, flag] : names) {
    const bool in_kernel = flags.find(std::string(" ") + flag + " ") != std::string::npos;
    EXPECT_EQ(detected().has(feature), in_kernel) << flag;
  }
}
#endif

}  // namespace
}  // namespace weir::cpu
