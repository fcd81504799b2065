// Bounds of packed weights, whatever their precision. docs/formats/packed-weights.md
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::packed_weights {

/// Raised whenever the bytes change their meaning.
inline constexpr std::uint32_t kLayoutVersion = 2;
/// What the start of the bytes must be aligned to, in the file and in memory.
inline constexpr std::size_t kAlignmentBytes = 64;

/// Sums of 8-bit products stay exact up to this many inputs.
inline constexpr std::uint64_t kMaxInputs = 65536;
inline constexpr std::uint64_t kMaxChannels = 1U << 24;

}  // namespace weir::packed_weights
