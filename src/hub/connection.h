// One HTTP exchange on a connection of its own: connect (through a proxy, with TLS), ask, read. Knows nothing of hubs
// and follows no redirect.
//
// Every wait is bounded: a peer that neither takes nor sends a byte for `stall_timeout` has failed. `cancelled` is
// asked a few times a second. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "hub/url.h"

namespace weir::hub {

struct HttpOptions {
  Clock::duration connect_timeout = std::chrono::seconds(15);
  Clock::duration stall_timeout = std::chrono::seconds(30);
  std::string certificates;         ///< A PEM file to trust; empty: the system's.
  std::string user_agent = "weir";  ///< The hub counts by it.
  std::function<bool()> cancelled;  ///< May be null.
};

struct HttpRequest {
  std::string method = "GET";
  Url url;
  const Url* proxy = nullptr;
  std::vector<std::pair<std::string, std::string>> headers;
};

struct HttpHead {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< Names in lower case; of equal ones the first.

  /// Empty when there is none.
  std::string_view header(const char* name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : found->second;
  }
};

/// Takes the head of an answer, then its body piece by piece. What it refuses ends the exchange with its error.
class HttpReceiver {
 public:
  virtual ~HttpReceiver() = default;
  virtual Status begin(const HttpHead& head) = 0;
  virtual Status take(std::string_view bytes) = 0;
};

/// kIo: the peer cannot be reached, breaks off or is silent, or its certificate is not trusted: the message says which,
/// and with which host; kMalformed: not HTTP; kCancelled; else what the receiver said.
Status exchange(const HttpOptions& options, const HttpRequest& request, HttpReceiver& receiver);

}  // namespace weir::hub
