// A request and a response as the HTTP transport and its handler exchange them: values, free of the network library.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/deadline.h"

namespace weir::serve::front::http {

/// Header fields never compare by case (RFC 9110, section 5.1).
inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : int{c}; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

using Fields = std::vector<std::pair<std::string, std::string>>;

/// Everything of a request but its body. All strings are the client's bytes: checked by the parser to be legal HTTP,
/// nothing more.
struct RequestHead {
  std::string method;
  std::string path;  ///< Of the target, without query and without "http://host"; percent-encoding kept.
  Fields fields;
  std::string peer;  ///< "address:port" of the client.
  Clock::time_point arrived{};

  /// The first field of that name; nullptr when there is none.
  const std::string* field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (equals_ignoring_case(key, name)) return &value;
    }
    return nullptr;
  }
};

/// The transport adds Content-Length, Connection and Date.
struct Response {
  int status = 200;
  std::string content_type;  ///< Empty: no such field.
  Fields fields;             ///< Values hold neither CR nor LF.
  std::string body;          ///< Not sent in answer to HEAD, though its length is.
  bool close = false;        ///< Close the connection after it.
  bool overloaded = false;   ///< Refused for load: of many in a short time the connections rest (refusal_pace.h).
};

}  // namespace weir::serve::front::http
