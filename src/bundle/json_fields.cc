#include "bundle/json_fields.h"

#include <algorithm>
#include <utility>

namespace weir::bundle {

namespace dom = simdjson::dom;

namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kQuotedBytes = 64;

/// A name from the file, short enough for a message.
std::string shortened(std::string_view name) {
  if (name.size() <= kQuotedBytes) return "'" + std::string(name) + "'";
  std::size_t end = kQuotedBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return "'" + std::string(name.substr(0, end)) + "…'";
}

}  // namespace

Error field_error(const std::string& file, const std::string& field, const std::string& what, ErrorKind kind) {
  return {kind, file + ": field '" + field + "': " + what, file};
}

std::string_view json_type_name(dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE:
      return "a number";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "a boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
  }
  return "something else";
}

Result<dom::object> parse_object(dom::parser& parser, const std::string& json, const std::string& file) {
  if (const auto code = parser.allocate(json.size() + 1, kMaxDepth)) {
    return Error(ErrorKind::kCorrupt, file + ": " + simdjson::error_message(code), file);
  }
  dom::element root;
  if (const auto code = parser.parse(json).get(root)) {
    return Error(ErrorKind::kCorrupt, file + ": not valid JSON: " + simdjson::error_message(code), file);
  }
  dom::object object;
  if (root.get(object)) {
    return Error(ErrorKind::kCorrupt, file + ": expected an object, found " + std::string(json_type_name(root)), file);
  }
  return object;
}

Fields::Fields(dom::object object, std::string file, std::string path)
    : object_(object), file_(std::move(file)), path_(std::move(path)) {}

std::string Fields::full_name(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

void Fields::fail(std::string_view name, const std::string& what, ErrorKind kind) {
  if (!error_) error_ = field_error(file_, full_name(name), what, kind);
}

std::optional<Fields::Element> Fields::find(std::string_view name) {
  asked_.emplace_back(name);
  Element element;
  if (object_.at_key(name).get(element)) return std::nullopt;
  return element;
}

bool Fields::present(std::string_view name) {
  const auto element = find(name);
  return element && !element->is_null();
}

void Fields::text(std::string_view name, std::string& value, std::size_t min_bytes, std::size_t max_bytes) {
  const auto element = find(name);
  if (!element) return fail(name, "missing");
  std::string_view found;
  if (element->get(found)) return fail(name, "expected a string, found " + std::string(json_type_name(*element)));
  if (found.size() < min_bytes) return fail(name, "must not be empty");
  if (found.size() > max_bytes) {
    return fail(name, "is " + std::to_string(found.size()) + " bytes long; the limit is " + std::to_string(max_bytes));
  }
  value = found;
}

void Fields::boolean(std::string_view name, bool& value) {
  const auto element = find(name);
  if (!element) return fail(name, "missing");
  if (element->get(value)) fail(name, "expected true or false, found " + std::string(json_type_name(*element)));
}

void Fields::number(std::string_view name, std::uint64_t& value, std::uint64_t min, std::uint64_t max) {
  const auto element = find(name);
  if (!element) return fail(name, "missing");
  std::uint64_t found = 0;
  if (element->get(found) || found < min || found > max) {
    const bool is_number = element->is_number();
    return fail(name, "expected a whole number from " + std::to_string(min) + " to " + std::to_string(max) +
                          ", found " +
                          (is_number ? simdjson::minify(*element) : std::string(json_type_name(*element))));
  }
  value = found;
}

void Fields::number(std::string_view name, std::uint32_t& value, std::uint32_t min, std::uint32_t max) {
  std::uint64_t wide = value;
  number(name, wide, std::uint64_t{min}, std::uint64_t{max});
  value = static_cast<std::uint32_t>(wide);
}

void Fields::array(std::string_view name, std::size_t max_elements, const ReadElement& read) {
  const auto element = find(name);
  if (error_) return;
  if (!element) return fail(name, "missing");
  dom::array found;
  if (element->get(found)) return fail(name, "expected an array, found " + std::string(json_type_name(*element)));
  std::size_t index = 0;
  for (const Element item : found) {
    if (index == max_elements) return fail(name, "has more than " + std::to_string(max_elements) + " elements");
    auto status = read(item, full_name(name) + "[" + std::to_string(index++) + "]");
    if (!status.ok()) {
      error_ = status.error();
      return;
    }
  }
}

void Fields::object(std::string_view name, const std::function<Status(dom::object, const std::string&)>& read) {
  const auto element = find(name);
  if (error_) return;
  if (!element) return fail(name, "missing");
  dom::object found;
  if (element->get(found)) return fail(name, "expected an object, found " + std::string(json_type_name(*element)));
  auto status = read(found, full_name(name));
  if (!status.ok()) error_ = status.error();
}

Status Fields::finish() {
  if (error_) return *error_;
  std::vector<std::string_view> seen;
  for (const auto field : object_) {
    if (field.key.starts_with("x_")) continue;
    if (std::find(asked_.begin(), asked_.end(), field.key) == asked_.end()) {
      return Error(
          ErrorKind::kCorrupt,
          file_ + ": unknown field " + shortened(full_name(field.key)) + "; only names that begin with \"x_\" are free",
          file_);
    }
    if (std::find(seen.begin(), seen.end(), field.key) != seen.end()) {
      return field_error(file_, full_name(field.key), "stands there twice");
    }
    seen.push_back(field.key);
  }
  return {};
}

}  // namespace weir::bundle
