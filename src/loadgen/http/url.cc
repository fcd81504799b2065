#include "loadgen/http/url.h"

#include <charconv>
#include <cstring>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace weir::loadgen {
namespace {

Error bad_url(std::string_view text, const std::string& flag, const std::string& what) {
  return {ErrorKind::kInvalidArgument,
          flag + ": '" + std::string(text) + "' " + what + "; wanted is http://HOST:PORT or grpc://HOST:PORT", flag};
}

bool parse_port(std::string_view text, std::uint16_t& port) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  return code == std::errc() && end == text.data() + text.size() && port != 0;
}

/// Splits "host", "host:port" and "[v6]:port".
bool split_authority(std::string_view authority, std::string_view& host, std::string_view& port) {
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return false;
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
  }
  if (!port.empty() && port.front() != ':') return false;
  if (!port.empty()) port.remove_prefix(1);
  return !host.empty();
}

}  // namespace

std::string Url::authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Url> parse_url(std::string_view text, const std::string& flag) {
  Url url;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return bad_url(text, flag, "is no URL");
  url.scheme = text.substr(0, colon);
  if (url.scheme == "https") return bad_url(text, flag, "asks for TLS, which the load test does not speak");
  if (url.scheme != "http" && url.scheme != "grpc") return bad_url(text, flag, "has a scheme that is unknown here");
  for (const char c : text) {
    if (c <= ' ' || c == 0x7F) return bad_url(text, flag, "has a blank or a control character in it");
  }
  const std::string_view rest = text.substr(colon + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  url.path = rest.substr(authority.size());
  std::string_view host;
  std::string_view port;
  if (authority.find('@') != std::string_view::npos) return bad_url(text, flag, "has a user name in it");
  if (!split_authority(authority, host, port)) return bad_url(text, flag, "has no host");
  url.host = host;
  if (port.empty() && url.scheme == "http") {
    url.port = 80;
  } else if (!parse_port(port, url.port)) {
    return bad_url(text, flag, "has no port from 1 to 65535");
  }
  if (url.path.starts_with('?')) url.path.insert(0, 1, '/');
  if (url.path == "/") url.path.clear();
  return url;
}

Result<SocketAddress> resolve(const Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
  if (code != 0) {
    return Error(ErrorKind::kInvalidArgument, "the host '" + url.host + "' has no address: " + gai_strerror(code));
  }
  SocketAddress address;
  address.length = found->ai_addrlen;
  std::memcpy(address.bytes, found->ai_addr, std::min<std::size_t>(found->ai_addrlen, sizeof address.bytes));
  freeaddrinfo(found);
  return address;
}

}  // namespace weir::loadgen
