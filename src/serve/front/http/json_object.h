// The JSON object in a request's body, read field by field with errors that name the field. Strict: the whole body is
// checked to be one JSON value in valid UTF-8, nested at most 16 deep, before any field is read. A field that is null
// counts as absent. A known field that appears twice is an error; fields that are not known are not looked at.
//
// One thread. Holds views of nothing: `body` may go once parse() has returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/request/request.h"

namespace weir::serve::front::http {

/// Which texts a route takes, and how many.
struct InputRules {
  std::size_t max_inputs = 2048;
  bool allow_ids = true;     ///< Token ids may stand for a text.
  bool allow_empty = false;  ///< An empty text is one.
};

class JsonObject {
 public:
  /// kMalformed: not JSON or not UTF-8, with the reason; kInvalidArgument: not an object, or a field of `known` twice.
  static Result<JsonObject> parse(std::string_view body, const std::vector<std::string_view>& known);
  JsonObject(JsonObject&&) noexcept;
  ~JsonObject();

  /// kInvalidArgument, naming the field, when it has another type. `name` must be one of `known`.
  Result<std::optional<std::string>> string(std::string_view name) const;
  Result<std::optional<bool>> boolean(std::string_view name) const;
  Result<std::optional<std::uint32_t>> positive_integer(std::string_view name) const;

  /// An object inside, of which `known` are the fields. Valid as long as this.
  Result<std::optional<JsonObject>> object(std::string_view name, const std::vector<std::string_view>& known) const;

  /// A list of texts, or of objects with a field `text`, as Cohere's documents are. Errors as inputs().
  Result<std::vector<Input>> documents(std::string_view name, const InputRules& rules) const;

  /// TEI's forms of what a classifier reads: a text, a pair ["a","b"], or a list of [a text] and pairs (`is_list`).
  struct Pairs {
    std::vector<Input> inputs;
    bool is_list = false;
  };
  Result<Pairs> pairs(std::string_view name, const InputRules& rules) const;

  /// A text, a list of texts, the token ids of a text, or a list of such. kEmptyInput, kTooManyInputs and
  /// kInvalidArgument name the element, such as `input[3]`.
  Result<std::vector<Input>> inputs(std::string_view name, const InputRules& rules) const;

 private:
  struct Impl;
  explicit JsonObject(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::serve::front::http
