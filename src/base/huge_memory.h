// Memory for large tables that are read over and over, in huge pages where the kernel gives them: one entry of the
// processor's page tables then covers 2 MiB instead of 4 KiB. Any thread may read; the owner frees.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace weir {

class HugeMemory {
 public:
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  HugeMemory() = default;
  HugeMemory(HugeMemory&& other) noexcept;
  HugeMemory& operator=(HugeMemory&& other) noexcept;
  HugeMemory(const HugeMemory&) = delete;
  HugeMemory& operator=(const HugeMemory&) = delete;
  ~HugeMemory();

  /// Zeros, at least `bytes` of them, aligned to kPageBytes; none for 0. The kernel may still use small pages: its
  /// setting /sys/kernel/mm/transparent_hugepage/enabled is "never", or no huge page is free. Fails with kInternal
  /// where there is no memory.
  static Result<HugeMemory> allocate(std::size_t bytes);

  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;  ///< Whole pages.
};

}  // namespace weir
