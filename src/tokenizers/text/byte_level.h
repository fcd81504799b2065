// The byte-level alphabet: a printable character for each of the 256 bytes, so that a vocabulary of strings can hold
// any bytes. Bytes that are printable in Latin-1 stand for themselves, the others for U+0100 and up, in order.
#pragma once

#include <array>
#include <cstdint>

namespace weir::tokenizers {

/// The character that stands for each byte.
const std::array<char32_t, 256>& byte_level_characters();

/// The byte that `character` stands for, or -1.
int byte_level_byte(char32_t character);

}  // namespace weir::tokenizers
