#include "recognize/call.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::recognize {
namespace {

std::int64_t to_integer(double number) {
  constexpr double kMost = 9.2e18;
  if (!(number == number)) return 0;
  return static_cast<std::int64_t>(std::clamp(number, -kMost, kMost));
}

/// Null when it is the order of the meaning itself, or of a table of positions that is repeated for each text.
std::shared_ptr<const IndexMap> simplified(IndexMap map, const Meaning& meaning) {
  const std::int64_t count = element_count(meaning.dims);
  const auto* embedding = meaning.as<Embedding>();
  const bool repeats = embedding != nullptr && embedding->rows == Rows::kPositions;
  bool is_plain = count > 0 && (repeats || count == static_cast<std::int64_t>(map.size()));
  for (std::size_t i = 0; i < map.size() && is_plain; ++i) is_plain = map[i] == static_cast<std::int64_t>(i) % count;
  if (is_plain) return nullptr;
  return std::make_shared<const IndexMap>(std::move(map));
}

Result<View> selected_view(const View& view, const Selection& selection) {
  View result = view;
  result.dims = selection.dims;
  if (!selection.map) return result;
  IndexMap map = selection.map();
  const std::int64_t count = element_count(view.of->dims);
  for (std::int64_t& index : map) {
    index =
        view.map != nullptr ? (*view.map)[static_cast<std::size_t>(index)] : index % std::max<std::int64_t>(count, 1);
  }
  result.map = simplified(std::move(map), *view.of);
  return result;
}

}  // namespace

Error unsupported(const std::string& what) { return {ErrorKind::kUnsupported, what}; }

const Dims* dims_of(const Value& value) {
  if (const auto* constant = std::get_if<Constant>(&value)) return &constant->dims();
  if (const auto* view = std::get_if<View>(&value)) return &view->dims;
  return nullptr;
}

Result<Value> selected(const Value& value, const Selection& selection) {
  const Dims* dims = dims_of(value);
  const std::int64_t count = element_count(selection.dims);
  if (dims == nullptr || selection.dims.size() > kMaxRank || count < 0 ||
      count > std::max(kMaxElements, element_count(*dims))) {
    return unsupported("a result of shape " + dims_text(selection.dims));
  }
  if (const auto* constant = std::get_if<Constant>(&value)) return Value(constant->selected(selection));
  WEIR_ASSIGN_OR_RETURN(View view, selected_view(std::get<View>(value), selection));
  return Value(std::move(view));
}

Outputs one(Result<Value> value) {
  if (!value.ok()) return std::move(value).error();
  std::vector<Value> outputs;
  outputs.push_back(std::move(*value));
  return outputs;
}

std::string Call::place() const {
  const std::string domain = node_.domain.empty() ? "" : node_.domain.substr(0, 60) + ".";
  std::string name = node_.name;
  if (name.empty() && !node_.outputs.empty()) name = node_.outputs.front();
  return "'" + name.substr(0, 200) + "' (" + domain + node_.op.substr(0, 60) + ")";
}

Result<const Value*> Call::value(std::size_t index) const {
  if (!has(index)) return unsupported("no input " + std::to_string(index));
  return inputs_[index];
}

Result<const Constant*> Call::constant(std::size_t index) const {
  WEIR_ASSIGN_OR_RETURN(const Value* given, value(index));
  const auto* constant = std::get_if<Constant>(given);
  if (constant == nullptr) {
    return unsupported("input " + std::to_string(index) + " is " + kind_text(*given) + ", not a constant");
  }
  return constant;
}

Result<const View*> Call::view(std::size_t index) const {
  WEIR_ASSIGN_OR_RETURN(const Value* given, value(index));
  const auto* view = std::get_if<View>(given);
  if (view == nullptr) return unsupported("input " + std::to_string(index) + " is " + kind_text(*given));
  return view;
}

Result<IndexMap> Call::integers(std::size_t index) const {
  WEIR_ASSIGN_OR_RETURN(const Constant* given, constant(index));
  if (!given->is_small()) return unsupported("input " + std::to_string(index) + " is a weight");
  IndexMap integers;
  for (const double number : given->numbers()) integers.push_back(to_integer(number));
  return integers;
}

Result<std::optional<IndexMap>> Call::integers(std::string_view name, std::size_t index) const {
  if (const auto* given = attribute(name)) {
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(given)) return std::optional<IndexMap>(*list);
    return unsupported("attribute '" + std::string(name) + "' is no list of integers");
  }
  if (!has(index)) return std::optional<IndexMap>();
  WEIR_ASSIGN_OR_RETURN(IndexMap list, integers(index));
  return std::optional<IndexMap>(std::move(list));
}

const onnx::NodeAttribute* Call::attribute(std::string_view name) const {
  const auto position = node_.attributes.find(name);
  return position == node_.attributes.end() ? nullptr : &position->second;
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* given = attribute(name);
  const auto* integer = given != nullptr ? std::get_if<std::int64_t>(given) : nullptr;
  return integer != nullptr ? *integer : otherwise;
}

double Call::number(std::string_view name, double otherwise) const {
  const auto* given = attribute(name);
  const auto* number = given != nullptr ? std::get_if<double>(given) : nullptr;
  return number != nullptr ? *number : otherwise;
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const auto* given = attribute(name);
  const auto* text = given != nullptr ? std::get_if<std::string>(given) : nullptr;
  return text != nullptr ? *text : std::string(otherwise);
}

}  // namespace weir::recognize
