// Packed weights from anywhere: any bytes give a view that lies inside them, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "packed_weights/linear.h"

namespace {

/// A view's first part begins behind the bytes' beginning, and its last one ends where they end.
template <class View>
void check_inside(const weir::Result<View>& view, std::span<const std::byte> bytes) {
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
  check_inside(weir::packed_weights::view_linear_q8(bytes), bytes);
  check_inside(weir::packed_weights::view_linear_bf16(bytes), bytes);
  check_inside(weir::packed_weights::view_linear_f32(bytes), bytes);
  return 0;
}
