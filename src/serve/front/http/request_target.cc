#include "serve/front/http/request_target.h"

#include <charconv>

namespace weir::serve::front::http {

std::string_view path_of_target(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find_first_of("/?#", scheme.size());
    target = slash != std::string_view::npos && target[slash] == '/' ? target.substr(slash) : std::string_view("/");
    break;
  }
  return target.substr(0, target.find_first_of("?#"));
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    if (byte == 0) return std::nullopt;
    decoded.push_back(static_cast<char>(byte));
    i += 2;
  }
  return decoded;
}

}  // namespace weir::serve::front::http
