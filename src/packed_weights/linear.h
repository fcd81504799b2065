// The weights of one linear layer as a bundle stores them: one opaque run of bytes, made once by import and mapped by
// every process that serves the model. docs/formats/packed-weights.md describes the bytes.
//
//   header (64 bytes) · parts                    all little-endian, each part 64-byte aligned
//
// The parts are those of kernels/matmul_q8, kernels/matmul_bf16 and kernels/matmul_f32, and are used where they lie.
// Pure functions; any thread. The bytes are foreign: everything in the header is checked before it is used.
//
//   pack_linear_*   packs weights [channels][inputs]; `bias` is [channels] or empty (zeros). kUnsupported when a size
//   is
//                   beyond the limits (limits.h).
//   view_linear_*   the parts of packed bytes, valid as long as they are. kCorrupt: not such bytes, misaligned,
//                   truncated, or sizes that contradict each other; kUnsupported: another layout version.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/matmul_bf16/matmul_bf16.h"
#include "kernels/matmul_f32/matmul_f32.h"
#include "kernels/matmul_q8/matmul_q8.h"

namespace weir::packed_weights {

/// In 8 bits, each channel with a scale of its own.
Result<std::vector<std::byte>> pack_linear_q8(std::span<const float> weights, std::span<const float> bias,
                                              std::size_t inputs, std::size_t channels);
Result<kernels::PackedWeightsQ8> view_linear_q8(std::span<const std::byte> bytes);

Result<std::vector<std::byte>> pack_linear_bf16(std::span<const float> weights, std::span<const float> bias,
                                                std::size_t inputs, std::size_t channels);
Result<kernels::PackedWeightsBf16> view_linear_bf16(std::span<const std::byte> bytes);

Result<std::vector<std::byte>> pack_linear_f32(std::span<const float> weights, std::span<const float> bias,
                                               std::size_t inputs, std::size_t channels);
Result<kernels::PackedWeightsF32> view_linear_f32(std::span<const std::byte> bytes);

}  // namespace weir::packed_weights
