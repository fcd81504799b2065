// http and https addresses, as the client needs them: where to connect, what to ask for, where a redirect leads.
// Values; no threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::hub {

struct Url {
  bool secure = false;  ///< https.
  std::string host;     ///< Lower case; an IPv6 address without its brackets.
  std::uint16_t port = 0;
  std::string target = "/";  ///< Path and query, as they go into a request.

  /// "https://host:port", the port only when it is not the scheme's own.
  std::string origin() const;
  /// "host:port" likewise, as a Host header has it.
  std::string authority() const;
  std::string text() const { return origin() + target; }
  bool same_origin(const Url& other) const {
    return secure == other.secure && host == other.host && port == other.port;
  }

  /// Reads an absolute address; user names and fragments are left out. kInvalidArgument: not http or https, no host, a
  /// port that is none, or characters that an address cannot have.
  static Result<Url> parse(std::string_view text);
  /// What a Location header means for an answer of this address.
  Result<Url> resolve(std::string_view location) const;
};

/// Percent-encodes what may not stand in a path; '/' stays.
std::string encode_path(std::string_view path);
/// The same for a single component: '/' is encoded too.
std::string encode_component(std::string_view text);

}  // namespace weir::hub
