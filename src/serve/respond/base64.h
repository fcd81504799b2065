// Base64 with padding (RFC 4648, section 4).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weir::serve::respond {

void append_base64(std::string& out, std::span<const std::byte> bytes);

/// Of the numbers' IEEE 754 bytes, little-endian, as OpenAI's `encoding_format: base64` has them.
void append_base64(std::string& out, std::span<const float> numbers);

}  // namespace weir::serve::respond
