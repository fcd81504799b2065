// The 8-bit weights of one linear layer as a bundle stores them: one opaque run of bytes, made once by import and
// mapped by every process that serves the model. docs/formats/packed-weights.md describes the bytes.
//
//   header (64 bytes) · values · correction · scale · bias          all little-endian, each part 64-byte aligned
//
// The parts are those of kernels/matmul_q8/matmul_q8.h and are used where they lie. Pure functions; any thread. The
// bytes are foreign: everything in the header is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/matmul_q8/matmul_q8.h"

namespace weir::packed_weights {

/// Raised whenever the bytes change their meaning.
inline constexpr std::uint32_t kLayoutVersion = 1;
/// What the start of the bytes must be aligned to, in the file and in memory.
inline constexpr std::size_t kAlignmentBytes = 64;

/// Sums of 8-bit products stay exact up to this many inputs.
inline constexpr std::uint64_t kMaxInputs = 65536;
inline constexpr std::uint64_t kMaxChannels = 1U << 24;

/// Quantizes weights [channels][inputs], each channel with a scale of its own. `bias` is [channels] or empty (zeros).
/// kUnsupported when a size is beyond the limits.
Result<std::vector<std::byte>> pack_linear_q8(std::span<const float> weights, std::span<const float> bias,
                                              std::size_t inputs, std::size_t channels);

/// The parts of packed bytes, valid as long as they are. kCorrupt: not such bytes, misaligned, truncated, or sizes
/// that contradict each other; kUnsupported: another layout version.
Result<kernels::PackedWeightsQ8> view_linear_q8(std::span<const std::byte> bytes);

}  // namespace weir::packed_weights
