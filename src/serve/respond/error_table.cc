#include "serve/respond/error_table.h"

#include <algorithm>
#include <array>

#include "base/json_text.h"

namespace weir::serve::respond {
namespace {

using enum ErrorKind;

constexpr std::string_view kInvalid = "invalid_request_error";
constexpr std::string_view kServer = "server_error";
constexpr std::string_view kRate = "rate_limit_error";

// The statuses that OpenAI's official clients turn into exceptions of their own are 400, 401, 404, 422, 429 and ≥ 500.
// TEI's are those of its own error types: Empty 400, Validation and Tokenizer 422, Backend 424, Overloaded 429,
// Unhealthy 503.
// clang-format off
constexpr std::array kTable = {
    //        kind              OpenAI TEI  gRPC                           OpenAI type OpenAI code              TEI type
    ErrorRow{kInvalidArgument,  400, 422, GrpcCode::kInvalidArgument,    kInvalid, "invalid_value",            "Validation"},
    ErrorRow{kEmptyInput,       400, 400, GrpcCode::kInvalidArgument,    kInvalid, "empty_input",              "Empty"},
    ErrorRow{kTextTooLong,      422, 422, GrpcCode::kInvalidArgument,    kInvalid, "context_length_exceeded",  "Validation"},
    ErrorRow{kTooManyInputs,    400, 422, GrpcCode::kInvalidArgument,    kInvalid, "too_many_inputs",          "Validation"},
    ErrorRow{kBodyTooLarge,     413, 413, GrpcCode::kResourceExhausted,  kInvalid, "request_too_large",        "Validation"},
    ErrorRow{kHeaderTooLarge,   431, 431, GrpcCode::kResourceExhausted,  kInvalid, "header_too_large",         "Validation"},
    ErrorRow{kMalformed,        400, 400, GrpcCode::kInvalidArgument,    kInvalid, "malformed_request",        "Validation"},
    ErrorRow{kMediaType,        415, 415, GrpcCode::kInvalidArgument,    kInvalid, "unsupported_media_type",   "Validation"},
    ErrorRow{kRequestTimeout,   408, 408, GrpcCode::kDeadlineExceeded,   kInvalid, "request_timeout",          "Validation"},
    ErrorRow{kTokenizer,        422, 422, GrpcCode::kInvalidArgument,    kInvalid, "tokenizer_error",          "Tokenizer"},
    ErrorRow{kNotFound,         404, 404, GrpcCode::kNotFound,           kInvalid, "not_found",                "Validation"},
    ErrorRow{kMethodNotAllowed, 405, 405, GrpcCode::kUnimplemented,      kInvalid, "method_not_allowed",       "Validation"},
    ErrorRow{kUnauthorized,     401, 401, GrpcCode::kUnauthenticated,    kInvalid, "invalid_api_key",          "Validation"},
    ErrorRow{kOverloaded,       429, 429, GrpcCode::kResourceExhausted,  kRate,    "overloaded",               "Overloaded"},
    ErrorRow{kTimeout,          504, 504, GrpcCode::kDeadlineExceeded,   kServer,  "deadline_exceeded",        "Overloaded"},
    ErrorRow{kCancelled,        499, 499, GrpcCode::kCancelled,          kInvalid, "client_closed_request",    "Validation"},
    ErrorRow{kUnavailable,      503, 503, GrpcCode::kUnavailable,        kServer,  "unavailable",              "Unhealthy"},
    ErrorRow{kUnsupported,      501, 501, GrpcCode::kUnimplemented,      kInvalid, "not_implemented",          "Validation"},
    ErrorRow{kCorrupt,          500, 500, GrpcCode::kInternal,           kServer,  "corrupt_model",            "Backend"},
    ErrorRow{kIo,               500, 500, GrpcCode::kInternal,           kServer,  "io_error",                 "Backend"},
    ErrorRow{kBackend,          500, 424, GrpcCode::kInternal,           kServer,  "inference_failed",         "Backend"},
    ErrorRow{kInternal,         500, 500, GrpcCode::kInternal,           kServer,  "internal_error",           "Backend"},
};
// clang-format on

std::string openai_body(const Error& error) {
  const ErrorRow& row = error_row(error.kind);
  const bool unknown_model = error.kind == kNotFound && error.where == "model";
  const std::string_view code = unknown_model ? std::string_view("model_not_found") : row.openai_code;
  std::string body = R"({"error":{"message":)";
  append_json_string(body, error.message);
  body.append(R"(,"type":)");
  append_json_string(body, row.openai_type);
  body.append(R"(,"param":)");
  append_json_string_or_null(body, error.where);
  body.append(R"(,"code":)");
  append_json_string_or_null(body, code);
  return body.append("}}");
}

std::string tei_body(const Error& error) {
  std::string body = R"({"error":)";
  append_json_string(body, error.message);
  body.append(R"(,"error_type":)");
  append_json_string(body, error_row(error.kind).tei_type);
  return body.append("}");
}

bool is_one_of(int status, std::initializer_list<int> allowed) {
  return std::find(allowed.begin(), allowed.end(), status) != allowed.end();
}

}  // namespace

const ErrorRow& error_row(ErrorKind kind) {
  const auto row = std::find_if(kTable.begin(), kTable.end(), [kind](const ErrorRow& r) { return r.kind == kind; });
  return row != kTable.end() ? *row : kTable.back();
}

Status check(const ErrorOptions& options) {
  if (!is_one_of(options.overloaded_status, {429, 503})) {
    return Error(ErrorKind::kInvalidArgument, "the status for overload must be 429 or 503", "overloaded_status");
  }
  if (!is_one_of(options.text_too_long_status, {400, 413, 422})) {
    return Error(ErrorKind::kInvalidArgument, "the status for texts that are too long must be 400, 413 or 422",
                 "text_too_long_status");
  }
  return {};
}

int http_status(ErrorKind kind, Dialect dialect, const ErrorOptions& options) {
  if (kind == kOverloaded) return options.overloaded_status;
  if (kind == kTextTooLong) return options.text_too_long_status;
  const ErrorRow& row = error_row(kind);
  return dialect == Dialect::kTei ? row.tei_status : row.openai_status;
}

bool passes(int status) { return is_one_of(status, {429, 503, 504}); }

std::string error_body(const Error& error, Dialect dialect) {
  return dialect == Dialect::kTei ? tei_body(error) : openai_body(error);
}

}  // namespace weir::serve::respond
