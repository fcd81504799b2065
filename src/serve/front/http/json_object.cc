#include "serve/front/http/json_object.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <simdjson.h>

namespace weir::serve::front::http {
namespace dom = simdjson::dom;

namespace {

constexpr std::size_t kMaxDepth = 16;

std::string in_quotes(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string element_name(std::string_view name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

std::string type_name(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      return "an integer";
    case dom::element_type::DOUBLE:
      return "a number with a fraction";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "a boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
  }
  return "something else";
}

Error wrong_type(std::string_view name, std::string_view expected, const dom::element& found) {
  return {ErrorKind::kInvalidArgument,
          in_quotes(name) + " must be " + std::string(expected) + ", but is " + type_name(found), std::string(name)};
}

Error empty(std::string_view name, std::string_view what) {
  return {ErrorKind::kEmptyInput, in_quotes(name) + " is " + std::string(what), std::string(name)};
}

/// The first byte that is not part of valid UTF-8. Only called when there is one.
std::size_t invalid_utf8_at(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    std::size_t length = 2;
    while (length <= 4 && at + length <= text.size() && !simdjson::validate_utf8(text.data() + at, length)) ++length;
    if (length > 4 || at + length > text.size()) return at;
    at += length;
  }
  return at;
}

Error parse_error(simdjson::error_code code, std::string_view body) {
  if (body.starts_with("\xEF\xBB\xBF")) {
    return {ErrorKind::kMalformed, "the body begins with a byte order mark, which JSON does not have"};
  }
  switch (code) {
    case simdjson::UTF8_ERROR:
      return {ErrorKind::kMalformed,
              "the body is not valid UTF-8 (first at byte " + std::to_string(invalid_utf8_at(body)) + ")"};
    case simdjson::EMPTY:
      return {ErrorKind::kMalformed, "the body is empty: a JSON object is expected"};
    case simdjson::STRING_ERROR:
      return {
          ErrorKind::kMalformed,
          "the body is not valid JSON: a string has an escape that JSON does not have, or half of a surrogate pair"};
    case simdjson::NUMBER_ERROR:
      return {ErrorKind::kMalformed, "the body is not valid JSON: a number is malformed or too large"};
    case simdjson::DEPTH_ERROR:
      return {ErrorKind::kMalformed, "the body nests deeper than " + std::to_string(kMaxDepth) + " levels"};
    default:
      return {ErrorKind::kMalformed, std::string("the body is not valid JSON: ") + simdjson::error_message(code)};
  }
}

/// One text's token ids.
Result<Input> read_ids(std::string_view name, const dom::array& list) {
  Input input;
  input.is_ids = true;
  for (const dom::element element : list) {
    std::int64_t id = 0;
    const bool fits = element.get(id) == simdjson::SUCCESS && id >= 0 && id <= std::numeric_limits<std::int32_t>::max();
    if (!fits) {
      const std::string where = element_name(name, input.ids.size());
      if (element.is_int64() || element.is_uint64()) {
        return Error(ErrorKind::kInvalidArgument, in_quotes(where) + " is not a token id: it must be 0…2147483647",
                     where);
      }
      return wrong_type(where, "a token id", element);
    }
    input.ids.push_back(static_cast<std::int32_t>(id));
  }
  if (input.ids.empty()) return empty(name, "an empty list of token ids");
  return input;
}

Result<Input> read_text(std::string_view name, std::string_view text, const InputRules& rules) {
  if (text.empty() && !rules.allow_empty) return empty(name, "an empty string");
  Input input;
  input.text = std::string(text);
  return input;
}

/// An element of a list of texts.
Result<Input> read_element(const std::string& name, const dom::element& element, const InputRules& rules) {
  if (std::string_view text; element.get(text) == simdjson::SUCCESS) return read_text(name, text, rules);
  if (dom::array ids; rules.allow_ids && element.get(ids) == simdjson::SUCCESS) return read_ids(name, ids);
  return wrong_type(name, rules.allow_ids ? "a string or a list of token ids" : "a string", element);
}

Status check_count(std::string_view name, const dom::array& list, const InputRules& rules) {
  std::size_t count = 0;
  for ([[maybe_unused]] const dom::element element : list) ++count;
  if (count == 0) return empty(name, "an empty list");
  if (count <= rules.max_inputs) return {};
  return Error(ErrorKind::kTooManyInputs,
               in_quotes(name) + " has " + std::to_string(count) + " texts, more than the " +
                   std::to_string(rules.max_inputs) + " that a request may hold",
               std::string(name));
}

Result<std::vector<Input>> read_list(std::string_view name, const dom::array& list, const InputRules& rules) {
  WEIR_RETURN_IF_ERROR(check_count(name, list, rules));
  std::vector<Input> inputs;
  for (const dom::element element : list) {
    WEIR_ASSIGN_OR_RETURN(Input input, read_element(element_name(name, inputs.size()), element, rules));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

/// One text, or two that are read as one.
Result<Input> read_pair(const std::string& name, const dom::array& list, const InputRules& rules) {
  std::vector<Input> texts;
  for (const dom::element element : list) {
    if (texts.size() == 2)
      return Error(ErrorKind::kInvalidArgument, in_quotes(name) + " has more than two texts", name);
    WEIR_ASSIGN_OR_RETURN(Input text, read_element(element_name(name, texts.size()), element, rules));
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return empty(name, "an empty list");
  if (texts.size() == 2) texts[0].pair = std::move(texts[1].text);
  return std::move(texts[0]);
}

bool starts_with_number(const dom::array& list) {
  const auto first = list.begin();
  return first != list.end() && (*first).is_number();
}

}  // namespace

struct JsonObject::Impl {
  std::shared_ptr<dom::parser> parser = std::make_shared<dom::parser>();
  std::vector<std::pair<std::string_view, std::optional<dom::element>>> fields;

  Status set(std::string_view name, dom::element value) {
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const auto& known) { return known.first == name; });
    if (field == fields.end()) return {};
    if (field->second) {
      return Error(ErrorKind::kInvalidArgument, in_quotes(name) + " appears twice in the body", std::string(name));
    }
    field->second = value;
    return {};
  }

  const dom::element* find(std::string_view name) const {
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const auto& known) { return known.first == name; });
    const bool present = field != fields.end() && field->second && !field->second->is_null();
    return present ? &*field->second : nullptr;
  }

  Result<dom::array> list(std::string_view name) const {
    const dom::element* const element = find(name);
    if (element == nullptr) {
      return Error(ErrorKind::kInvalidArgument, "the field " + in_quotes(name) + " is missing", std::string(name));
    }
    dom::array list;
    if (element->get(list) != simdjson::SUCCESS) return wrong_type(name, "a list", *element);
    return list;
  }
};

JsonObject::JsonObject(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject::~JsonObject() = default;

Result<JsonObject> JsonObject::parse(std::string_view body, const std::vector<std::string_view>& known) {
  auto impl = std::make_unique<Impl>();
  for (const std::string_view name : known) impl->fields.emplace_back(name, std::nullopt);
  dom::element root;
  simdjson::error_code code = impl->parser->allocate(std::max<std::size_t>(body.size(), 64), kMaxDepth);
  if (code == simdjson::SUCCESS) code = impl->parser->parse(body.data(), body.size()).get(root);
  if (code != simdjson::SUCCESS) return parse_error(code, body);
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    return Error(ErrorKind::kInvalidArgument, "the body must be a JSON object, but is " + type_name(root));
  }
  for (const dom::key_value_pair field : object) WEIR_RETURN_IF_ERROR(impl->set(field.key, field.value));
  return JsonObject(std::move(impl));
}

Result<std::optional<std::string>> JsonObject::string(std::string_view name) const {
  const dom::element* const element = impl_->find(name);
  if (element == nullptr) return std::optional<std::string>();
  std::string_view text;
  if (element->get(text) != simdjson::SUCCESS) return wrong_type(name, "a string", *element);
  return std::optional(std::string(text));
}

Result<std::optional<bool>> JsonObject::boolean(std::string_view name) const {
  const dom::element* const element = impl_->find(name);
  if (element == nullptr) return std::optional<bool>();
  bool value = false;
  if (element->get(value) != simdjson::SUCCESS) return wrong_type(name, "true or false", *element);
  return std::optional(value);
}

Result<std::optional<std::uint32_t>> JsonObject::positive_integer(std::string_view name) const {
  const dom::element* const element = impl_->find(name);
  if (element == nullptr) return std::optional<std::uint32_t>();
  if (!element->is_int64() && !element->is_uint64()) return wrong_type(name, "a positive integer", *element);
  std::uint64_t value = 0;
  if (element->get(value) != simdjson::SUCCESS || value == 0 || value > std::numeric_limits<std::uint32_t>::max()) {
    return Error(ErrorKind::kInvalidArgument, in_quotes(name) + " must be an integer from 1 to 4294967295",
                 std::string(name));
  }
  return std::optional(static_cast<std::uint32_t>(value));
}

Result<std::vector<Input>> JsonObject::inputs(std::string_view name, const InputRules& rules) const {
  const dom::element* const element = impl_->find(name);
  if (element == nullptr) {
    return Error(ErrorKind::kInvalidArgument, "the field " + in_quotes(name) + " is missing", std::string(name));
  }
  std::vector<Input> inputs;
  dom::array list;
  if (std::string_view text; element->get(text) == simdjson::SUCCESS) {
    WEIR_ASSIGN_OR_RETURN(Input input, read_text(name, text, rules));
    inputs.push_back(std::move(input));
    return inputs;
  }
  if (element->get(list) != simdjson::SUCCESS) {
    return wrong_type(
        name, rules.allow_ids ? "a string, a list of strings or lists of token ids" : "a string or a list of strings",
        *element);
  }
  if (!rules.allow_ids || !starts_with_number(list)) return read_list(name, list, rules);
  WEIR_ASSIGN_OR_RETURN(Input input, read_ids(name, list));
  inputs.push_back(std::move(input));
  return inputs;
}

Result<std::optional<JsonObject>> JsonObject::object(std::string_view name,
                                                     const std::vector<std::string_view>& known) const {
  const dom::element* const element = impl_->find(name);
  if (element == nullptr) return std::optional<JsonObject>();
  dom::object object;
  if (element->get(object) != simdjson::SUCCESS) return wrong_type(name, "an object", *element);
  auto impl = std::make_unique<Impl>();
  impl->parser = impl_->parser;
  for (const std::string_view field : known) impl->fields.emplace_back(field, std::nullopt);
  for (const dom::key_value_pair field : object) WEIR_RETURN_IF_ERROR(impl->set(field.key, field.value));
  return std::optional(JsonObject(std::move(impl)));
}

Result<std::vector<Input>> JsonObject::documents(std::string_view name, const InputRules& rules) const {
  WEIR_ASSIGN_OR_RETURN(const dom::array list, impl_->list(name));
  WEIR_RETURN_IF_ERROR(check_count(name, list, rules));
  std::vector<Input> inputs;
  for (const dom::element element : list) {
    const std::string place = element_name(name, inputs.size());
    dom::element text = element;
    if (dom::object document; element.get(document) == simdjson::SUCCESS && document["text"].get(text)) {
      return Error(ErrorKind::kInvalidArgument, in_quotes(place) + " has no field 'text'", place);
    }
    WEIR_ASSIGN_OR_RETURN(Input input, read_element(place, text, rules));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Result<JsonObject::Pairs> JsonObject::pairs(std::string_view name, const InputRules& rules) const {
  const dom::element* const element = impl_->find(name);
  if (element != nullptr && element->is_string()) {
    WEIR_ASSIGN_OR_RETURN(auto inputs_of_one, inputs(name, rules));
    return Pairs{std::move(inputs_of_one), false};
  }
  WEIR_ASSIGN_OR_RETURN(const dom::array list, impl_->list(name));
  if (list.size() == 0) return empty(name, "an empty list");
  if ((*list.begin()).is_string()) {
    WEIR_ASSIGN_OR_RETURN(Input input, read_pair(std::string(name), list, rules));
    return Pairs{{std::move(input)}, false};
  }
  WEIR_RETURN_IF_ERROR(check_count(name, list, rules));
  Pairs pairs{{}, true};
  for (const dom::element entry : list) {
    const std::string place = element_name(name, pairs.inputs.size());
    dom::array texts;
    if (entry.get(texts) != simdjson::SUCCESS) return wrong_type(place, "a list of one or two texts", entry);
    WEIR_ASSIGN_OR_RETURN(Input input, read_pair(place, texts, rules));
    pairs.inputs.push_back(std::move(input));
  }
  return pairs;
}

}  // namespace weir::serve::front::http
