// Memory for intermediate values of an operator's call: the calling thread's own, grown to the largest use and kept, so
// that no call allocates once the largest batch has been seen. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace weir::ops {

/// What a thread may hold at the same time.
enum class Slot : std::uint8_t { kOffsets, kKeys, kIds, kSegments, kRows, kWork };

/// `bytes` bytes at a multiple of 64, valid until the thread asks for the same slot again. kInternal: no memory.
Result<void*> scratch_bytes(Slot slot, std::size_t bytes);

template <class T>
Result<T*> scratch(Slot slot, std::size_t count) {
  WEIR_ASSIGN_OR_RETURN(void* memory, scratch_bytes(slot, count * sizeof(T)));
  return static_cast<T*>(memory);
}

}  // namespace weir::ops
