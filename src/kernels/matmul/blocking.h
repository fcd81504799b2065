// How the linear layers divide their rows. Has no code of its own: ISA files include it.
#pragma once

#include <cstddef>

namespace weir::kernels {

/// Rows that are computed and finished together. Their fp32 values (64 x 1536 x 4 = 384 KiB for MiniLM's widest layer)
/// stay in a 1 MiB L2 together with the panel of weights that is being read.
constexpr std::size_t kBlockRows = 64;

/// Weights beyond this size come from L3 or memory for each block: larger blocks read them less often.
constexpr std::size_t kCachedWeightsBytes = std::size_t{1} << 20;
constexpr std::size_t kLargeBlockRows = 128;

/// AMX multiplies so fast that it waits for the weights rather than for rows that have left L2; rows that need no
/// finishing leave it once.
constexpr std::size_t kLargeAmxBlockRows = 256;
constexpr std::size_t kLargeAmxFinishedRows = 512;

constexpr std::size_t kMostScratchRows = kLargeAmxBlockRows;

}  // namespace weir::kernels
