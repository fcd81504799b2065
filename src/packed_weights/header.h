// What packed weights of all precisions begin with. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir::packed_weights {

/// Eight characters, by which a precision's bytes are known.
struct Magic {
  char text[9];
};

struct Sizes {
  std::uint64_t inputs = 0;
  std::uint64_t channels = 0;
};

/// Gives each part its place behind the header.
class Parts {
 public:
  Parts();
  template <class T>
  std::size_t add(std::size_t count) {
    return add_bytes(count * sizeof(T));
  }
  std::size_t end() const { return end_; }

 private:
  std::size_t add_bytes(std::size_t bytes);

  std::size_t end_;
};

/// `end` zeroed bytes that begin with a header. kUnsupported when a size is beyond the limits.
Result<std::vector<std::byte>> make_packed(const Magic& magic, Sizes sizes, std::size_t end);
/// kUnsupported when a size is beyond the limits.
Status check_sizes(Sizes sizes);

/// The sizes that a header claims, within the limits. kCorrupt, kUnsupported as linear.h says.
Result<Sizes> read_header(const Magic& magic, std::span<const std::byte> bytes);
/// kCorrupt unless the bytes are as many as header and sizes say.
Status check_end(std::span<const std::byte> bytes, Sizes sizes, std::size_t end);

template <class T>
const T* part_at(std::span<const std::byte> bytes, std::size_t offset) {
  return reinterpret_cast<const T*>(bytes.data() + offset);
}
template <class T>
T* part_at(std::vector<std::byte>& bytes, std::size_t offset) {
  return reinterpret_cast<T*>(bytes.data() + offset);
}

}  // namespace weir::packed_weights
