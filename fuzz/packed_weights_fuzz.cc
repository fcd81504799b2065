// Packed weights from anywhere: any bytes give a view that lies inside them, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "packed_weights/linear.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(64, (size / 64 + 1) * 64));
  if (size != 0) std::memcpy(memory.get(), data, size);
  const std::span bytes(static_cast<const std::byte*>(memory.get()), size);
  const auto view = weir::packed_weights::view_linear_q8(bytes);
  if (!view.ok()) return 0;
  const auto* last = reinterpret_cast<const std::byte*>(view->bias + view->padded_channels());
  if (reinterpret_cast<const std::byte*>(view->values) < bytes.data() || last != bytes.data() + size) std::abort();
  return 0;
}
