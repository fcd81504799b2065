#include "base/huge_memory.h"

#include <cstdint>
#include <string>
#include <utility>

#include <sys/mman.h>

namespace weir {

HugeMemory::HugeMemory(HugeMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HugeMemory& HugeMemory::operator=(HugeMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

HugeMemory::~HugeMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

Result<HugeMemory> HugeMemory::allocate(std::size_t bytes) {
  HugeMemory memory;
  if (bytes == 0) return memory;
  const auto no_memory = [&] {
    return Error(ErrorKind::kInternal, "there is no memory for " + std::to_string(bytes) + " bytes");
  };
  if (bytes > SIZE_MAX - 2 * kPageBytes) return no_memory();
  const std::size_t size = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  // One page more: what sticks out of the aligned place at its ends is given back.
  void* address = mmap(nullptr, size + kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return no_memory();
  auto* first = static_cast<std::byte*>(address);
  const std::size_t before = (kPageBytes - reinterpret_cast<std::uintptr_t>(first) % kPageBytes) % kPageBytes;
  if (before != 0) munmap(first, before);
  munmap(first + before + size, kPageBytes - before);
  memory.data_ = first + before;
  memory.size_ = size;
  madvise(memory.data_, size, MADV_HUGEPAGE);
  return memory;
}

}  // namespace weir
