#include "serve/front/http/request_headers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <random>

namespace weir::serve::front::http {
namespace {

constexpr std::size_t kMaxRequestIdLength = 128;

std::string new_request_id() {
  thread_local std::mt19937_64 random = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string id(32, '0');
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t bits = random();
    for (std::size_t i = 0; i < 16; ++i, bits >>= 4) id[half * 16 + i] = kHex[bits & 15];
  }
  return id;
}

// No early way out, so that the time tells nothing about where two keys differ.
bool same_secret(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = key.empty() ? '\0' : key[i % key.size()];
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(expected);
  }
  return difference == 0;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::string request_id(const RequestHead& head) {
  const std::string* const given = head.field(kRequestIdField);
  const auto visible = [](char c) { return c > ' ' && c <= '~'; };
  const bool usable = given != nullptr && !given->empty() && given->size() <= kMaxRequestIdLength &&
                      std::all_of(given->begin(), given->end(), visible);
  return usable ? *given : new_request_id();
}

Result<std::optional<std::chrono::milliseconds>> request_timeout(const RequestHead& head) {
  const std::string* const given = head.field(kTimeoutField);
  if (given == nullptr) return std::optional<std::chrono::milliseconds>();
  std::uint32_t milliseconds = 0;
  const auto [end, code] = std::from_chars(given->data(), given->data() + given->size(), milliseconds);
  if (code != std::errc() || end != given->data() + given->size() || milliseconds == 0) {
    return Error(ErrorKind::kInvalidArgument,
                 std::string(kTimeoutField) + " must be a whole number of milliseconds from 1 to 4294967295",
                 std::string(kTimeoutField));
  }
  return std::optional(std::chrono::milliseconds(milliseconds));
}

bool has_valid_key(const RequestHead& head, std::span<const std::string> keys) {
  const std::string* const given = head.field("Authorization");
  if (given == nullptr) return false;
  const std::size_t space = given->find(' ');
  if (space == std::string::npos || !equals_ignoring_case(given->substr(0, space), "Bearer")) return false;
  const std::string_view secret = trimmed(std::string_view(*given).substr(space));
  bool valid = false;
  for (const std::string& key : keys) valid |= same_secret(secret, key) && !key.empty();
  return valid;
}

Status check_json_media_type(const RequestHead& head) {
  const std::string* const coding = head.field("Content-Encoding");
  if (coding != nullptr && !equals_ignoring_case(*coding, "identity")) {
    return Error(ErrorKind::kMediaType, "the body must not be compressed (Content-Encoding)", "Content-Encoding");
  }
  const std::string* const type = head.field("Content-Type");
  if (type == nullptr) return {};
  const std::string_view essence = trimmed(std::string_view(*type).substr(0, type->find(';')));
  for (const std::string_view taken :
       {"application/json", "text/json", "text/plain", "application/x-www-form-urlencoded", ""}) {
    if (equals_ignoring_case(essence, taken)) return {};
  }
  if (essence.size() > 5 && equals_ignoring_case(essence.substr(essence.size() - 5), "+json")) return {};
  return Error(ErrorKind::kMediaType, "the body must be JSON: send 'Content-Type: application/json'", "Content-Type");
}

}  // namespace weir::serve::front::http
