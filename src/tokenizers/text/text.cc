#include "tokenizers/text/text.h"

namespace weir::tokenizers {

void Text::append_original(std::string_view characters, std::uint32_t origin) {
  bytes.append(characters);
  if (!aligned) return;
  for (std::uint32_t at = 0; at < characters.size();) {
    const std::uint32_t length = unicode::length_from_lead(static_cast<unsigned char>(characters[at]));
    spans.insert(spans.end(), length, Span{origin + at, origin + at + length});
    at += length;
  }
}

}  // namespace weir::tokenizers
