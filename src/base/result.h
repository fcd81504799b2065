// Errors as values. Everything that input or the machine can cause comes back as a Result; exceptions of libraries are
// caught where they enter, and none crosses a folder's boundary. Asserts are for our own bugs only.
//
// A message says what was wrong, where, and what to do; `where` names the field, flag or file so that a dialect can put
// it in its own place (OpenAI's `param`, a flag in a shell message).
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace weir {

/// What kind of failure it is. serve/respond maps each kind to an HTTP status and to each dialect's body; the command
/// line maps each to an exit status.
enum class ErrorKind {
  kInvalidArgument,   ///< A field, flag or value is wrong; the same call will fail again.
  kEmptyInput,        ///< A text or a list of texts is empty.
  kTextTooLong,       ///< More tokens than the model takes, and truncation is off.
  kTooManyInputs,     ///< More texts in a request than the limit.
  kBodyTooLarge,      ///< More bytes in a request than the limit.
  kHeaderTooLarge,    ///< More bytes in a request's header than the limit.
  kMalformed,         ///< A request's bytes are not what they should be: not HTTP, not JSON, not UTF-8.
  kMediaType,         ///< A request's Content-Type is one that the route does not take.
  kRequestTimeout,    ///< The client did not send its request in time.
  kTokenizer,         ///< The text could not be tokenized.
  kNotFound,          ///< No such model, file or route.
  kMethodNotAllowed,  ///< The route exists, the method does not.
  kUnauthorized,      ///< No key or a wrong one.
  kOverloaded,        ///< Permits and waiting room are full.
  kTimeout,           ///< The deadline passed before an answer was there.
  kCancelled,         ///< The client went away.
  kUnavailable,       ///< Not ready: loading or draining.
  kUnsupported,       ///< A valid thing that weir does not implement.
  kCorrupt,           ///< A file's bytes contradict its format.
  kIo,                ///< The file system or the network failed.
  kBackend,           ///< The engine failed, or computed NaN or Inf.
  kInternal,          ///< A bug of ours.
};

/// A short lower-case name for logs and metric labels, such as "overloaded".
std::string_view error_kind_name(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::string where;  ///< The field, flag or file at fault; empty when there is none.

  Error() = default;
  Error(ErrorKind k, std::string text, std::string place = {})
      : kind(k), message(std::move(text)), where(std::move(place)) {}
};

/// A value or an Error. Value access on an Error is a bug and asserts.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return *get(); }
  const T& value() const& { return *const_cast<Result*>(this)->get(); }
  T&& value() && { return std::move(*get()); }
  T& operator*() & { return *get(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*get()); }
  T* operator->() { return get(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  T* get() {
    assert(ok());
    return std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& {
    assert(!ok());
    return *error_;
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace weir

#define WEIR_CONCAT_INNER(a, b) a##b
#define WEIR_CONCAT(a, b) WEIR_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a Status or Result) from the enclosing function, if it is one.
#define WEIR_RETURN_IF_ERROR(expression)                          \
  do {                                                            \
    auto weir_status = (expression);                              \
    if (!weir_status.ok()) return std::move(weir_status).error(); \
  } while (false)

/// `WEIR_ASSIGN_OR_RETURN(auto x, f());` assigns the value of f(), or returns its error.
#define WEIR_ASSIGN_OR_RETURN(declaration, expression) \
  WEIR_ASSIGN_OR_RETURN_INNER(WEIR_CONCAT(weir_result_, __LINE__), declaration, expression)
#define WEIR_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) return std::move(result).error();                \
  declaration = std::move(result).value()
