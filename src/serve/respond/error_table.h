// The one table of what a failure looks like outside: ErrorKind → HTTP status → gRPC code → each dialect's names for
// it. Constant data; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::serve::respond {

/// Whose form of error body a route answers with.
enum class Dialect {
  kOpenAi,  ///< {"error":{"message","type","param","code"}}; also of routes that belong to no dialect.
  kTei,     ///< {"error","error_type"}
};

/// google.rpc.Code, by number; only what the table uses.
enum class GrpcCode {
  kCancelled = 1,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kResourceExhausted = 8,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

struct ErrorRow {
  ErrorKind kind;
  int openai_status;
  int tei_status;
  GrpcCode grpc;
  std::string_view openai_type;
  std::string_view openai_code;  ///< Empty: null.
  std::string_view tei_type;
};

const ErrorRow& error_row(ErrorKind kind);

/// What the server's configuration changes in the table.
struct ErrorOptions {
  int overloaded_status = 429;     ///< Or 503.
  int text_too_long_status = 422;  ///< Or 413, or 400.
};

/// kInvalidArgument when a status is none of those allowed.
Status check(const ErrorOptions& options);

int http_status(ErrorKind kind, Dialect dialect, const ErrorOptions& options);

/// Coming back later helps: the answer says when, in Retry-After.
bool passes(int status);

/// The JSON body. `error.where` becomes OpenAI's `param`.
std::string error_body(const Error& error, Dialect dialect);

}  // namespace weir::serve::respond
