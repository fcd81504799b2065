// Reading the parts of a tokenizer.json: an object that knows where in the file it stands, so that every refusal names
// its field. Views into a parsed document, which must outlive them. One thread at a time.
//
// A field that is null counts as absent, as it does for the `tokenizers` library.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "base/result.h"

namespace weir::tokenizers::json {

using Element = simdjson::dom::element;

/// "an object", "a string", …: for messages.
std::string_view kind_name(const Element& element);

/// kCorrupt: the field at `path` is not what it must be.
Error wrong_type(const std::string& path, std::string_view expected, const Element& found);

Result<std::string_view> as_string(const Element& element, const std::string& path);
Result<std::uint64_t> as_unsigned(const Element& element, const std::string& path, std::uint64_t limit);
Result<double> as_number(const Element& element, const std::string& path);
Result<simdjson::dom::array> as_array(const Element& element, const std::string& path);

class Object {
 public:
  /// kCorrupt when `element` is no object. `path` is where it stands, such as "model"; empty for the whole file.
  static Result<Object> from(const Element& element, std::string path);

  const std::string& path() const { return path_; }
  std::string path_of(std::string_view field) const;
  const simdjson::dom::object& raw() const { return object_; }

  std::optional<Element> find(std::string_view field) const;
  Result<Element> require(std::string_view field) const;

  Result<std::string_view> string(std::string_view field) const;
  Result<std::string_view> string_or(std::string_view field, std::string_view otherwise) const;
  Result<bool> boolean(std::string_view field) const;
  Result<bool> boolean_or(std::string_view field, bool otherwise) const;
  Result<std::uint64_t> unsigned_or(std::string_view field, std::uint64_t otherwise, std::uint64_t limit) const;
  Result<Object> object(std::string_view field) const;
  Result<simdjson::dom::array> array(std::string_view field) const;

  /// kUnsupported when the object has a field that is neither in `known` nor "type" nor one of those that old versions
  /// of the library wrote into every part without using them.
  Status refuse_others(std::initializer_list<std::string_view> known) const;

 private:
  Object(simdjson::dom::object object, std::string path) : object_(object), path_(std::move(path)) {}

  simdjson::dom::object object_;
  std::string path_;
};

/// kUnsupported: the `what` at `path` is a `name`, which is none of `supported`. Names the nearest of them.
Error unsupported_type(const std::string& path, std::string_view what, std::string_view name,
                       std::span<const std::string_view> supported);

}  // namespace weir::tokenizers::json
