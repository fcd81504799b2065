// Safetensors from anywhere: any bytes give tensors that lie inside them, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "safetensors/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto tensors = weir::safetensors::parse(bytes, "fuzz.safetensors");
  if (!tensors.ok()) return 0;
  for (const auto& [name, tensor] : *tensors) {
    if (!tensor.bytes.empty() && (tensor.bytes.data() < bytes.data() ||
                                  tensor.bytes.data() + tensor.bytes.size() > bytes.data() + bytes.size())) {
      std::abort();
    }
    const auto floats = tensor.floats();
    if (floats.ok() && floats->size() != tensor.elements()) std::abort();
    const auto integers = tensor.integers();
    if (integers.ok() && integers->size() != tensor.elements()) std::abort();
  }
  return 0;
}
