// Queries and keys in bytes, as VNNI and AMX take them.
#pragma once

#include "kernels/simd/f32x16.h"

namespace weir::kernels {
namespace {

/// Two vectors of bytes as eight numbers: columns c and c + 16 lie side by side.
inline void store_bytes(std::int32_t* out, I32x16 low, I32x16 high) {
  const I32x16 byte = broadcast_i32(0xff);
  store_u16(reinterpret_cast<std::uint16_t*>(out), bit_or(bit_and(low, byte), shift_left<8>(bit_and(high, byte))));
}

}  // namespace
}  // namespace weir::kernels
