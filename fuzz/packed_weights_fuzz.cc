// Packed weights from anywhere: any bytes give a view that lies inside them, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "packed_weights/linear.h"

namespace {

/// Whether the parts lie inside the bytes, the last one at their end.
template <class View>
void check(const View& view, std::span<const std::byte> bytes) {
  if (!view.ok()) return;
  const auto* last = reinterpret_cast<const std::byte*>(view->bias + view->padded_channels());
  const auto* first = reinterpret_cast<const std::byte*>(view->values);
  if (first < bytes.data() || last != bytes.data() + bytes.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(64, (size / 64 + 1) * 64));
  if (size != 0) std::memcpy(memory.get(), data, size);
  const std::span bytes(static_cast<const std::byte*>(memory.get()), size);
  check(weir::packed_weights::view_linear_q8(bytes), bytes);
  check(weir::packed_weights::view_linear_bf16(bytes), bytes);
  check(weir::packed_weights::view_linear_f32(bytes), bytes);
  return 0;
}
