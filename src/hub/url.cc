#include "hub/url.h"

#include <algorithm>
#include <charconv>

namespace weir::hub {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::size_t kLongestUrl = 16 << 10;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

Error bad_url(std::string_view text, const char* why) {
  return {ErrorKind::kInvalidArgument, "'" + std::string(text.substr(0, 200)) + "' is no address: " + why};
}

std::string encode(std::string_view text, bool keep_slashes) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && keep_slashes)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

Result<std::uint16_t> parse_port(std::string_view digits, std::string_view url) {
  std::uint16_t port = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (code != std::errc() || end != digits.data() + digits.size() || port == 0) return bad_url(url, "a bad port");
  return port;
}

/// "host", "host:8080", "[::1]:8080"
Status parse_authority(std::string_view authority, std::string_view url, Url& out) {
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  std::string_view port;
  const bool is_address = authority.starts_with('[');
  if (is_address) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad_url(url, "a bracket is not closed");
    port = authority.substr(close + 1);
    authority = authority.substr(1, close - 1);
    if (!port.empty() && port[0] != ':') return bad_url(url, "characters behind the host");
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    port = authority.substr(colon);
    authority = authority.substr(0, colon);
  }
  if (authority.empty()) return bad_url(url, "no host");
  const auto fits = [&](char c) { return is_unreserved(c) || (is_address && (c == ':' || c == '%')); };
  if (!std::all_of(authority.begin(), authority.end(), fits)) return bad_url(url, "a character that no host has");
  if (is_address && authority.find(':') == std::string_view::npos) return bad_url(url, "no address in the brackets");
  out.host.resize(authority.size());
  std::transform(authority.begin(), authority.end(), out.host.begin(), lower);
  out.port = out.secure ? kHttpsPort : kHttpPort;
  if (port.size() > 1) {
    WEIR_ASSIGN_OR_RETURN(out.port, parse_port(port.substr(1), url));
  }
  return {};
}

}  // namespace

std::string Url::authority() const {
  const bool is_address = host.find(':') != std::string::npos;
  std::string text = is_address ? "[" + host + "]" : host;
  if (port != (secure ? kHttpsPort : kHttpPort)) text += ":" + std::to_string(port);
  return text;
}

std::string Url::origin() const { return (secure ? "https://" : "http://") + authority(); }

Result<Url> Url::parse(std::string_view text) {
  if (text.size() > kLongestUrl) return bad_url(text, "it is too long");
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F;
  };
  if (std::any_of(text.begin(), text.end(), is_bad)) return bad_url(text, "blanks, or characters that are not ASCII");
  Url url;
  const std::size_t colon = text.find("://");
  std::string scheme(text.substr(0, colon == std::string_view::npos ? 0 : colon));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(), lower);
  if (scheme != "http" && scheme != "https") return bad_url(text, "it begins with neither http:// nor https://");
  url.secure = scheme == "https";
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t path = rest.find_first_of("/?");
  WEIR_RETURN_IF_ERROR(parse_authority(rest.substr(0, path), text, url));
  if (path != std::string_view::npos) url.target = (rest[path] == '?' ? "/" : "") + std::string(rest.substr(path));
  return url;
}

Result<Url> Url::resolve(std::string_view location) const {
  if (location.find("://") != std::string_view::npos && location.find("://") < location.find_first_of("/?#")) {
    return parse(location);
  }
  const std::string scheme = secure ? "https:" : "http:";
  if (location.starts_with("//")) return parse(scheme + std::string(location));
  if (location.starts_with('/')) return parse(origin() + std::string(location));
  if (location.starts_with('?')) return parse(origin() + target.substr(0, target.find('?')) + std::string(location));
  const std::string path = target.substr(0, target.find('?'));
  return parse(origin() + path.substr(0, path.rfind('/') + 1) + std::string(location));
}

std::string encode_path(std::string_view path) { return encode(path, /*keep_slashes=*/true); }
std::string encode_component(std::string_view text) { return encode(text, /*keep_slashes=*/false); }

}  // namespace weir::hub
