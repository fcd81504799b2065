// A server that speaks HTTP/1.1, reached over one connection for each slot, kept alive. All requests are bytes that
// were prepared before the load begins; a thread sends and reads with epoll, without locks.
//
// A connection that the server closed between two requests is opened again without being counted: every client of HTTP
// has to do that. One that closes without an answer on a fresh connection is a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loadgen/http/url.h"
#include "loadgen/target/driver.h"

namespace weir::loadgen {

/// Whether the body of a 2xx answer is one. `thoroughly` is asked for the first answer on a connection and for every
/// 64th after; else only what costs nothing. Called by all threads.
using AnswerCheck = std::function<bool(std::string_view body, const RequestSize& request, bool thoroughly)>;

struct HttpRequests {
  Url url;  ///< With the path.
  std::string description;
  std::vector<std::string> headers;  ///< "Name: value", beyond Host and the body's.
  std::vector<std::string> bodies;   ///< JSON.
  std::vector<RequestSize> sizes;    ///< One for each body.
  AnswerCheck check;                 ///< May be empty: any body is an answer.
};

/// kInvalidArgument when the host has no address.
Result<std::unique_ptr<Target>> make_http_target(HttpRequests requests);

}  // namespace weir::loadgen
