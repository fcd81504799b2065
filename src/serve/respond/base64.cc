#include "serve/respond/base64.h"

#include <bit>
#include <cstdint>
#include <string_view>

namespace weir::serve::respond {

static_assert(std::endian::native == std::endian::little, "floats are sent as they lie in memory");

void append_base64(std::string& out, std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t start = out.size();
  out.resize(start + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data() + start;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j <= count; ++j) to[j] = kDigits[group >> (18 - 6 * j) & 63];
    to += 4;
  }
}

void append_base64(std::string& out, std::span<const float> numbers) { append_base64(out, std::as_bytes(numbers)); }

}  // namespace weir::serve::respond
