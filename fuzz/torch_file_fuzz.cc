// Files of PyTorch's from anywhere: any bytes give tensors whose values are there, or an error; nothing is run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "torch_file/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto tensors = weir::torch_file::parse(bytes, "fuzz.pt");
  if (!tensors.ok()) return 0;
  for (const auto& [name, tensor] : *tensors) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : tensor.shape) elements *= extent;
    if (elements != tensor.elements()) std::abort();
    const bool inside =
        tensor.bytes.data() >= bytes.data() && tensor.bytes.data() + tensor.bytes.size() <= bytes.data() + bytes.size();
    if (!inside) std::abort();
  }
  return 0;
}
