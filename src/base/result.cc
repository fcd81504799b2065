#include "base/result.h"

namespace weir {

std::string_view error_kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "invalid_argument";
    case ErrorKind::kEmptyInput:
      return "empty_input";
    case ErrorKind::kTextTooLong:
      return "text_too_long";
    case ErrorKind::kTooManyInputs:
      return "too_many_inputs";
    case ErrorKind::kBodyTooLarge:
      return "body_too_large";
    case ErrorKind::kHeaderTooLarge:
      return "header_too_large";
    case ErrorKind::kMalformed:
      return "malformed";
    case ErrorKind::kMediaType:
      return "media_type";
    case ErrorKind::kRequestTimeout:
      return "request_timeout";
    case ErrorKind::kTokenizer:
      return "tokenizer";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kMethodNotAllowed:
      return "method_not_allowed";
    case ErrorKind::kUnauthorized:
      return "unauthorized";
    case ErrorKind::kOverloaded:
      return "overloaded";
    case ErrorKind::kTimeout:
      return "timeout";
    case ErrorKind::kCancelled:
      return "cancelled";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kIo:
      return "io";
    case ErrorKind::kBackend:
      return "backend";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace weir
