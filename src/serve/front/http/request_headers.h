// What weir reads from a request's header fields: the request id, the client's time limit, the key, the media type.
// Pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/front/http/message.h"

namespace weir::serve::front::http {

inline constexpr std::string_view kRequestIdField = "X-Request-ID";
inline constexpr std::string_view kTimeoutField = "X-Request-Timeout-Ms";

/// The client's X-Request-ID if it has 1 to 128 characters, all of them visible ASCII (so it can neither forge a log
/// line nor a header); otherwise a new one of 32 hex digits.
std::string request_id(const RequestHead& head);

/// The client's X-Request-Timeout-Ms; empty when there is none. kInvalidArgument: not a positive whole number.
Result<std::optional<std::chrono::milliseconds>> request_timeout(const RequestHead& head);

/// Whether "Authorization: Bearer KEY" holds one of `keys`. Takes the same time for every key of the same length.
bool has_valid_key(const RequestHead& head, std::span<const std::string> keys);

/// kMediaType when the request says that its body is not JSON, or that it is compressed. A missing Content-Type,
/// text/plain and curl's default (application/x-www-form-urlencoded) are taken for JSON.
Status check_json_media_type(const RequestHead& head);

}  // namespace weir::serve::front::http
