#include "serve/front/http/response_head.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace weir::serve::front::http {
namespace {

void append_number(std::string& out, std::size_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return;
  out.append(name).append(": ").append(value).append("\r\n");
}

// RFC 9110, section 8.6: these have no body, so no length either.
bool has_length(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

std::string_view status_reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 424:
      return "Failed Dependency";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "";
  }
}

std::string http_date(std::time_t time) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                   kDays.at(static_cast<std::size_t>(utc.tm_wday)), utc.tm_mday,
                                   kMonths.at(static_cast<std::size_t>(utc.tm_mon)), utc.tm_year + 1900, utc.tm_hour,
                                   utc.tm_min, utc.tm_sec);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

std::string response_head(const Response& response, AfterResponse after, std::string_view date) {
  std::string head;
  head.reserve(512);
  head.append("HTTP/1.1 ");
  append_number(head, static_cast<std::size_t>(response.status));
  head.append(" ").append(status_reason(response.status)).append("\r\n");
  append_field(head, "Date", date);
  if (!response.content_type.empty()) append_field(head, "Content-Type", response.content_type);
  if (has_length(response.status)) {
    head.append("Content-Length: ");
    append_number(head, response.body.size());
    head.append("\r\n");
  }
  if (after == AfterResponse::kClose) append_field(head, "Connection", "close");
  if (after == AfterResponse::kKeepAliveHttp10) append_field(head, "Connection", "keep-alive");
  for (const auto& [name, value] : response.fields) append_field(head, name, value);
  head.append("\r\n");
  return head;
}

}  // namespace weir::serve::front::http
