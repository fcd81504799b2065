#include "tokenizers/json/object.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::tokenizers::json {
namespace {

/// Fields of ByteLevel and Metaspace that old versions of the library also wrote into other parts.
constexpr std::string_view kLeftovers[] = {"add_prefix_space", "trim_offsets", "use_regex", "str_rep"};

template <class Range>
bool contains(const Range& range, std::string_view name) {
  return std::find(std::begin(range), std::end(range), name) != std::end(range);
}

/// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// A name from a foreign file, fit for a message.
std::string shown(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string result(name.substr(0, kLongest));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  }
  return name.size() > kLongest ? result + "..." : result;
}

}  // namespace

std::string_view kind_name(const Element& element) {
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "a boolean";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

Error wrong_type(const std::string& path, std::string_view expected, const Element& found) {
  return {ErrorKind::kCorrupt,
          path + ": expected " + std::string(expected) + ", found " + std::string(kind_name(found)), path};
}

Result<std::string_view> as_string(const Element& element, const std::string& path) {
  std::string_view value;
  if (element.get_string().get(value) != simdjson::SUCCESS) return wrong_type(path, "a string", element);
  return value;
}

Result<std::uint64_t> as_unsigned(const Element& element, const std::string& path, std::uint64_t limit) {
  std::uint64_t value = 0;
  if (element.get_uint64().get(value) != simdjson::SUCCESS) {
    return Error(ErrorKind::kCorrupt, path + ": expected a whole number that is not negative", path);
  }
  if (value > limit) {
    return Error(ErrorKind::kCorrupt,
                 path + ": " + std::to_string(value) + " is above the limit of " + std::to_string(limit), path);
  }
  return value;
}

Result<double> as_number(const Element& element, const std::string& path) {
  double value = 0;
  if (element.get_double().get(value) != simdjson::SUCCESS) return wrong_type(path, "a number", element);
  return value;
}

Result<simdjson::dom::array> as_array(const Element& element, const std::string& path) {
  simdjson::dom::array value;
  if (element.get_array().get(value) != simdjson::SUCCESS) return wrong_type(path, "an array", element);
  return value;
}

Result<Object> Object::from(const Element& element, std::string path) {
  simdjson::dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) return wrong_type(path, "an object", element);
  return Object(object, std::move(path));
}

std::string Object::path_of(std::string_view field) const {
  return path_.empty() ? std::string(field) : path_ + "." + std::string(field);
}

std::optional<Element> Object::find(std::string_view field) const {
  Element element;
  if (object_.at_key(field).get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  return element;
}

Result<Element> Object::require(std::string_view field) const {
  if (const auto element = find(field)) return *element;
  return Error(ErrorKind::kCorrupt, path_of(field) + ": the field is missing", path_of(field));
}

Result<std::string_view> Object::string(std::string_view field) const {
  WEIR_ASSIGN_OR_RETURN(const Element element, require(field));
  return as_string(element, path_of(field));
}

Result<std::string_view> Object::string_or(std::string_view field, std::string_view otherwise) const {
  if (!find(field)) return otherwise;
  return string(field);
}

Result<bool> Object::boolean(std::string_view field) const {
  WEIR_ASSIGN_OR_RETURN(const Element element, require(field));
  bool value = false;
  if (element.get_bool().get(value) != simdjson::SUCCESS) return wrong_type(path_of(field), "a boolean", element);
  return value;
}

Result<bool> Object::boolean_or(std::string_view field, bool otherwise) const {
  if (!find(field)) return otherwise;
  return boolean(field);
}

Result<std::uint64_t> Object::unsigned_or(std::string_view field, std::uint64_t otherwise, std::uint64_t limit) const {
  const auto element = find(field);
  if (!element) return otherwise;
  return as_unsigned(*element, path_of(field), limit);
}

Result<Object> Object::object(std::string_view field) const {
  WEIR_ASSIGN_OR_RETURN(const Element element, require(field));
  return from(element, path_of(field));
}

Result<simdjson::dom::array> Object::array(std::string_view field) const {
  WEIR_ASSIGN_OR_RETURN(const Element element, require(field));
  return as_array(element, path_of(field));
}

Status Object::refuse_others(std::initializer_list<std::string_view> known) const {
  for (const auto& field : object_) {
    if (field.key == "type" || contains(known, field.key) || contains(kLeftovers, field.key)) continue;
    const std::string path = path_of(shown(field.key));
    return Error(ErrorKind::kUnsupported, path + ": weir does not know this field, and it may change the ids", path);
  }
  return {};
}

Error unsupported_type(const std::string& path, std::string_view what, std::string_view name,
                       std::span<const std::string_view> supported) {
  std::string message = path + ": the " + std::string(what) + " \"" + shown(name) + "\" is not supported";
  const auto nearer = [&](std::string_view a, std::string_view b) {
    const std::string_view bounded = name.substr(0, 80);
    return distance(bounded, a) < distance(bounded, b);
  };
  const auto nearest = std::min_element(supported.begin(), supported.end(), nearer);
  if (nearest != supported.end()) message += "; the nearest that is: \"" + std::string(*nearest) + "\"";
  return {ErrorKind::kUnsupported, std::move(message), path};
}

}  // namespace weir::tokenizers::json
