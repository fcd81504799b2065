#include "tokenizers/unicode/utf8.h"

#include <simdjson.h>

namespace weir::tokenizers::unicode {

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += is_continuation(byte) ? 0 : 1;
  return count;
}

bool is_valid(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace weir::tokenizers::unicode
