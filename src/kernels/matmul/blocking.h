// How the linear layers divide their rows. Has no code of its own: ISA files include it.
#pragma once

#include <cstddef>

namespace weir::kernels {

/// Rows that are computed and finished together. Their fp32 values (64 x 1536 x 4 = 384 KiB for MiniLM's widest layer)
/// stay in a 1 MiB L2 together with the panel of weights that is being read.
constexpr std::size_t kBlockRows = 64;

/// Weights beyond this size come from L3 or memory for each block: larger blocks read them less often.
constexpr std::size_t kCachedWeightsBytes = std::size_t{1} << 20;
constexpr std::size_t kMaximumBlockRows = 128;

}  // namespace weir::kernels
