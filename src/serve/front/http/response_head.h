// The status line and header fields of a response, as bytes.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "serve/front/http/message.h"

namespace weir::serve::front::http {

enum class AfterResponse { kKeepAlive, kKeepAliveHttp10, kClose };

/// "Not Found" for 404; empty for a status that weir never sends.
std::string_view status_reason(int status);

/// An HTTP date, such as "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::time_t time);

/// Everything up to and with the empty line. A field whose value holds a CR, LF or NUL is left out.
std::string response_head(const Response& response, AfterResponse after, std::string_view date);

}  // namespace weir::serve::front::http
