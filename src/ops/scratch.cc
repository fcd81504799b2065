#include "ops/scratch.h"

#include <cstdlib>
#include <memory>
#include <string>

namespace weir::ops {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSlots = static_cast<std::size_t>(Slot::kWork) + 1;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
struct Buffer {
  std::unique_ptr<void, Free> memory;
  std::size_t bytes = 0;
};

}  // namespace

Result<void*> scratch_bytes(Slot slot, std::size_t bytes) {
  thread_local Buffer buffers[kSlots];
  Buffer& buffer = buffers[static_cast<std::size_t>(slot)];
  if (bytes <= buffer.bytes && buffer.memory != nullptr) return buffer.memory.get();
  const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  buffer.memory.reset();  // before the new one: what it held is worthless
  buffer.bytes = 0;
  buffer.memory.reset(std::aligned_alloc(kAlignment, rounded));
  if (buffer.memory == nullptr) {
    return Error(ErrorKind::kInternal, "no memory for " + std::to_string(rounded) + " bytes of intermediate values");
  }
  buffer.bytes = rounded;
  return buffer.memory.get();
}

}  // namespace weir::ops
