#include "huggingface/json_object.h"

#include <cmath>
#include <new>
#include <utility>

#include <boost/json.hpp>

#include "base/file.h"

namespace weir::huggingface {

namespace json = boost::json;

namespace {

constexpr std::size_t kMaxDepth = 32;

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "something else";
}

Result<json::value> parse_value(std::string_view text, const std::string& name) {
  const auto corrupt = [&](const std::string& what) { return Error(ErrorKind::kCorrupt, name + ": " + what, name); };
  if (text.size() > kMaxJsonBytes)
    return corrupt("larger than the limit of " + std::to_string(kMaxJsonBytes) + " bytes");
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::error_code code;
  try {
    json::value value = json::parse({text.data(), text.size()}, code, {}, options);
    if (code) return corrupt("not valid JSON: " + code.message());
    return value;
  } catch (const std::exception& exception) {
    return corrupt(std::string("cannot be parsed: ") + exception.what());
  }
}

std::string text_of(const json::string& text) { return std::string(text.data(), text.size()); }

}  // namespace

struct JsonObject::Node {
  std::string file;
  std::string path;  ///< Where the object stands in the file, with a dot at its end; empty for the whole file.
  json::object value;

  const json::value* find(std::string_view key) const {
    const json::value* value_there = value.if_contains({key.data(), key.size()});
    return value_there == nullptr || value_there->is_null() ? nullptr : value_there;
  }
};

JsonObject::JsonObject(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
JsonObject::JsonObject(const JsonObject&) = default;
JsonObject& JsonObject::operator=(const JsonObject&) = default;
JsonObject::~JsonObject() = default;

const std::string& JsonObject::file() const { return node_->file; }

bool JsonObject::has(std::string_view key) const { return node_->find(key) != nullptr; }

Error JsonObject::error(std::string_view key, const std::string& what, ErrorKind kind) const {
  return {kind, node_->file + ": field '" + node_->path + std::string(key) + "': " + what, node_->file};
}

Status JsonObject::expect_text(std::string_view key, const std::string& usual) const {
  WEIR_ASSIGN_OR_RETURN(const auto value, text(key));
  if (value.value_or(usual) == usual) return {};
  return error(key, "'" + *value + "' is not supported; weir has " + usual, ErrorKind::kUnsupported);
}

Result<JsonObject> JsonObject::parse(std::string_view text, const std::string& name) {
  WEIR_ASSIGN_OR_RETURN(json::value value, parse_value(text, name));
  if (!value.is_object()) {
    return Error(ErrorKind::kCorrupt, name + ": expected an object, found " + std::string(type_name(value)), name);
  }
  return JsonObject(std::make_shared<Node>(Node{name, "", std::move(value.get_object())}));
}

Result<std::vector<JsonObject>> JsonObject::parse_array(std::string_view text, const std::string& name) {
  WEIR_ASSIGN_OR_RETURN(json::value value, parse_value(text, name));
  const auto corrupt = [&](const std::string& what) { return Error(ErrorKind::kCorrupt, name + ": " + what, name); };
  if (!value.is_array()) return corrupt("expected an array, found " + std::string(type_name(value)));
  std::vector<JsonObject> objects;
  for (json::value& item : value.get_array()) {
    const std::string path = "[" + std::to_string(objects.size()) + "]";
    if (!item.is_object()) return corrupt(path + ": expected an object, found " + std::string(type_name(item)));
    objects.push_back(JsonObject(std::make_shared<Node>(Node{name, path + ".", std::move(item.get_object())})));
  }
  return objects;
}

Result<JsonObject> JsonObject::read(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMaxJsonBytes));
  return parse(text, path);
}

Result<std::vector<JsonObject>> JsonObject::read_array(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMaxJsonBytes));
  return parse_array(text, path);
}

Result<std::optional<std::string>> JsonObject::text(std::string_view key) const {
  const json::value* value = node_->find(key);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return error(key, "expected a string, found " + std::string(type_name(*value)));
  return std::optional(text_of(value->get_string()));
}

Result<std::optional<bool>> JsonObject::boolean(std::string_view key) const {
  const json::value* value = node_->find(key);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_bool()) return error(key, "expected true or false, found " + std::string(type_name(*value)));
  return std::optional(value->get_bool());
}

Result<std::optional<double>> JsonObject::number(std::string_view key) const {
  const json::value* value = node_->find(key);
  if (value == nullptr) return std::optional<double>();
  if (!value->is_number()) return error(key, "expected a number, found " + std::string(type_name(*value)));
  if (value->is_int64()) return std::optional(static_cast<double>(value->get_int64()));
  if (value->is_uint64()) return std::optional(static_cast<double>(value->get_uint64()));
  return std::optional(value->get_double());
}

Result<std::optional<std::uint32_t>> JsonObject::count(std::string_view key, std::uint32_t max) const {
  WEIR_ASSIGN_OR_RETURN(const std::optional<double> value, number(key));
  if (!value) return std::optional<std::uint32_t>();
  if (!(*value >= 0 && *value <= max) || *value != std::floor(*value)) {
    return error(key, "expected a whole number from 0 to " + std::to_string(max) + ", found " +
                          json::serialize(*node_->find(key)));
  }
  return std::optional(static_cast<std::uint32_t>(*value));
}

Result<std::optional<JsonObject>> JsonObject::object(std::string_view key) const {
  const json::value* value = node_->find(key);
  if (value == nullptr) return std::optional<JsonObject>();
  if (!value->is_object()) return error(key, "expected an object, found " + std::string(type_name(*value)));
  const std::string path = node_->path + std::string(key) + ".";
  return std::optional(JsonObject(std::make_shared<Node>(Node{node_->file, path, value->get_object()})));
}

Result<std::optional<std::vector<std::string>>> JsonObject::texts(std::string_view key) const {
  const json::value* value = node_->find(key);
  if (value == nullptr) return std::optional<std::vector<std::string>>();
  if (value->is_string()) return std::optional(std::vector<std::string>{text_of(value->get_string())});
  if (!value->is_array()) return error(key, "expected an array of strings, found " + std::string(type_name(*value)));
  std::vector<std::string> texts;
  for (const json::value& item : value->get_array()) {
    if (!item.is_string()) return error(key, "expected an array of strings, found " + std::string(type_name(item)));
    texts.push_back(text_of(item.get_string()));
  }
  return std::optional(std::move(texts));
}

Result<std::optional<std::vector<std::uint32_t>>> JsonObject::counts(std::string_view key, std::uint32_t max) const {
  const json::value* value = node_->find(key);
  if (value == nullptr) return std::optional<std::vector<std::uint32_t>>();
  const auto wrong = [&] { return error(key, "expected an array of whole numbers from 1 to " + std::to_string(max)); };
  if (!value->is_array()) return wrong();
  std::vector<std::uint32_t> numbers;
  for (const json::value& item : value->get_array()) {
    if (!item.is_int64() || item.get_int64() < 1 || item.get_int64() > max) return wrong();
    numbers.push_back(static_cast<std::uint32_t>(item.get_int64()));
  }
  return std::optional(std::move(numbers));
}

Result<std::optional<std::map<std::string, std::string>>> JsonObject::text_map(std::string_view key) const {
  const json::value* value = node_->find(key);
  if (value == nullptr) return std::optional<std::map<std::string, std::string>>();
  if (!value->is_object()) return error(key, "expected an object, found " + std::string(type_name(*value)));
  std::map<std::string, std::string> texts;
  for (const auto& field : value->get_object()) {
    const std::string name(field.key().data(), field.key().size());
    if (field.value().is_null()) {
      texts[name] = "";
      continue;
    }
    if (!field.value().is_string()) {
      return error(std::string(key) + "." + name, "expected a string, found " + std::string(type_name(field.value())));
    }
    texts[name] = text_of(field.value().get_string());
  }
  return std::optional(std::move(texts));
}

}  // namespace weir::huggingface
