#include <algorithm>
#include <cmath>

#include "recognize/handlers.h"

namespace weir::recognize {
namespace {

using Numbers = Constant::Numbers;

Outputs list(const IndexMap& integers, Dims dims) {
  return one(Value(Constant(DataType::kInt64, std::move(dims), Numbers(integers.begin(), integers.end()))));
}

Outputs constant(const Call& call) {
  if (const auto* value = call.attribute("value")) {
    const auto* tensor = std::get_if<onnx::TensorData>(value);
    if (tensor == nullptr) return unsupported("a constant whose bytes cannot be read");
    WEIR_ASSIGN_OR_RETURN(Constant made, Constant::from(*tensor));
    return one(Value(std::move(made)));
  }
  if (const auto* value = call.attribute("value_int")) {
    const auto* integer = std::get_if<std::int64_t>(value);
    if (integer != nullptr) return list({*integer}, {});
  }
  if (const auto* value = call.attribute("value_ints")) {
    const auto* integers = std::get_if<std::vector<std::int64_t>>(value);
    if (integers != nullptr) return list(*integers, {static_cast<std::int64_t>(integers->size())});
  }
  if (const auto* value = call.attribute("value_float")) {
    const auto* number = std::get_if<double>(value);
    if (number != nullptr) return one(Value(Constant::scalar(DataType::kFloat, *number)));
  }
  if (const auto* value = call.attribute("value_floats")) {
    const auto* numbers = std::get_if<std::vector<double>>(value);
    const auto count = static_cast<std::int64_t>(numbers != nullptr ? numbers->size() : 0);
    if (numbers != nullptr) return one(Value(Constant(DataType::kFloat, {count}, *numbers)));
  }
  return unsupported("a constant of a kind that is not known");
}

Outputs shape(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  const Dims* dims = dims_of(*value);
  if (dims == nullptr) return unsupported("an input without a shape");
  const auto rank = static_cast<std::int64_t>(dims->size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp(at < 0 ? std::max(at, -rank) + rank : at, std::int64_t{0}, rank);
  };
  const std::int64_t start = bound(call.integer("start", 0));
  const std::int64_t end = std::max(start, bound(call.integer("end", rank)));
  return list(IndexMap(dims->begin() + start, dims->begin() + end), {end - start});
}

Outputs size(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  const Dims* dims = dims_of(*value);
  if (dims == nullptr) return unsupported("an input without a shape");
  return list({element_count(*dims)}, {});
}

Outputs constant_of_shape(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const IndexMap dims, call.integers(0));
  const std::int64_t count = element_count(dims);
  if (dims.size() > kMaxRank || count < 0 || count > kMaxElements) return unsupported("a shape of " + dims_text(dims));
  Constant fill = Constant::scalar(DataType::kFloat, 0);
  if (const auto* value = call.attribute("value")) {
    const auto* tensor = std::get_if<onnx::TensorData>(value);
    if (tensor == nullptr) return unsupported("a value that cannot be read");
    WEIR_ASSIGN_OR_RETURN(fill, Constant::from(*tensor));
  }
  if (!fill.single()) return unsupported("a value of more than one number");
  return one(Value(Constant(fill.type(), dims, Numbers(static_cast<std::size_t>(count), *fill.single()))));
}

Outputs range(const Call& call) {
  double bounds[3] = {0, 0, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    WEIR_ASSIGN_OR_RETURN(const Constant* given, call.constant(i));
    if (!given->single()) return unsupported("a bound that is no single number");
    bounds[i] = *given->single();
  }
  const double count = bounds[2] == 0 ? -1 : std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count < static_cast<double>(kMaxElements)) || bounds[2] == 0) return unsupported("a range without end");
  Numbers numbers;
  for (double i = 0; i < count; ++i) numbers.push_back(bounds[0] + i * bounds[2]);
  WEIR_ASSIGN_OR_RETURN(const Constant* start, call.constant(0));
  const auto length = static_cast<std::int64_t>(numbers.size());
  return one(Value(Constant(start->type(), {length}, std::move(numbers))));
}

/// Which element of which input each element of a concatenation is.
struct Origin {
  std::size_t input;
  std::int64_t index;
};

Result<std::vector<Origin>> concatenated(const std::vector<Dims>& parts, std::size_t axis, Dims& dims) {
  dims = parts.front();
  dims[axis] = 0;
  for (const Dims& part : parts) {
    if (part.size() != dims.size()) return unsupported("parts of different ranks");
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (i != axis && part[i] != dims[i]) return unsupported("parts of different shapes");
    }
    dims[axis] += part[axis];
  }
  const std::int64_t count = element_count(dims);
  if (count < 0 || count > kMaxElements) return unsupported("a result of shape " + dims_text(dims));
  const std::int64_t outer = element_count(Dims(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis)));
  std::vector<Origin> origins;
  origins.reserve(static_cast<std::size_t>(count));
  for (std::int64_t block = 0; block < outer; ++block) {
    for (std::size_t input = 0; input < parts.size(); ++input) {
      const std::int64_t length = element_count(parts[input]) / outer;
      for (std::int64_t i = 0; i < length; ++i) origins.push_back({input, block * length + i});
    }
  }
  return origins;
}

Result<Value> joined_constants(const std::vector<Constant>& parts, const std::vector<Origin>& origins, Dims dims) {
  Numbers numbers;
  numbers.reserve(origins.size());
  for (const Origin& origin : origins) {
    numbers.push_back(parts[origin.input].numbers()[static_cast<std::size_t>(origin.index)]);
  }
  return Value(Constant(parts.front().type(), std::move(dims), std::move(numbers)));
}

Result<Value> joined_views(const std::vector<const View*>& parts, const std::vector<Origin>& origins, Dims dims) {
  IndexMap map;
  map.reserve(origins.size());
  for (const Origin& origin : origins) {
    const View& part = *parts[origin.input];
    map.push_back(part.map != nullptr ? (*part.map)[static_cast<std::size_t>(origin.index)] : origin.index);
  }
  View whole = *parts.front();
  whole.dims = whole.of->dims;
  whole.map = nullptr;
  return selected(Value(std::move(whole)), {std::move(dims), [map] { return map; }});
}

Outputs concat(const Call& call) {
  std::vector<Dims> dims;
  std::vector<Constant> constants;
  std::vector<const View*> views;
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(i));
    if (const auto* constant = std::get_if<Constant>(value)) {
      WEIR_ASSIGN_OR_RETURN(Constant small, constant->small());
      constants.push_back(std::move(small));
    } else if (const auto* view = std::get_if<View>(value)) {
      views.push_back(view);
    }
    if (dims_of(*value) == nullptr) return unsupported("an input without a shape");
    dims.push_back(*dims_of(*value));
  }
  const auto axis = dims.empty() ? std::nullopt : axis_of(call.integer("axis", 0), dims.front().size());
  if (!axis) return unsupported("an axis that is not there");
  Dims whole;
  WEIR_ASSIGN_OR_RETURN(const auto origins, concatenated(dims, *axis, whole));
  if (constants.size() == dims.size()) return one(joined_constants(constants, origins, std::move(whole)));
  const bool same = views.size() == dims.size() && std::all_of(views.begin(), views.end(), [&](const View* view) {
                      return view->of == views.front()->of && view->scale == views.front()->scale;
                    });
  if (!same) return unsupported("pieces of different things joined");
  return one(joined_views(views, origins, std::move(whole)));
}

Outputs gather_nd(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Constant* data, call.constant(0));
  WEIR_ASSIGN_OR_RETURN(const Constant* at, call.constant(1));
  WEIR_ASSIGN_OR_RETURN(const IndexMap indices, call.integers(1));
  if (call.integer("batch_dims", 0) != 0 || at->dims().empty()) return unsupported("batch_dims other than 0");
  const std::int64_t depth = at->dims().back();
  const auto rank = static_cast<std::int64_t>(data->dims().size());
  if (depth < 1 || depth > rank) return unsupported("indices of " + std::to_string(depth) + " axes");
  const Dims tail(data->dims().begin() + depth, data->dims().end());
  const std::int64_t block = element_count(tail);
  const Dims strides = strides_of(data->dims());
  IndexMap map;
  for (std::size_t row = 0; row + static_cast<std::size_t>(depth) <= indices.size();
       row += static_cast<std::size_t>(depth)) {
    std::int64_t start = 0;
    for (std::int64_t axis = 0; axis < depth; ++axis) {
      const std::int64_t size = data->dims()[static_cast<std::size_t>(axis)];
      const std::int64_t index = indices[row + static_cast<std::size_t>(axis)];
      const std::int64_t wrapped = index < 0 ? index + size : index;
      if (wrapped < 0 || wrapped >= size) return unsupported("an index beyond the data");
      start += wrapped * strides[static_cast<std::size_t>(axis)];
    }
    if (static_cast<std::int64_t>(map.size()) > kMaxElements - block) return unsupported("too many elements");
    for (std::int64_t i = 0; i < block; ++i) map.push_back(start + i);
  }
  Dims dims(at->dims().begin(), at->dims().end() - 1);
  dims.insert(dims.end(), tail.begin(), tail.end());
  return one(selected(Value(*data), {std::move(dims), [map] { return map; }}));
}

Outputs gather_elements(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Constant* data, call.constant(0));
  WEIR_ASSIGN_OR_RETURN(const Constant* at, call.constant(1));
  WEIR_ASSIGN_OR_RETURN(const IndexMap indices, call.integers(1));
  const auto axis = axis_of(call.integer("axis", 0), data->dims().size());
  if (!axis || at->dims().size() != data->dims().size()) return unsupported("indices of another rank");
  const Dims from = strides_of(data->dims());
  const Dims over = strides_of(at->dims());
  IndexMap map;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int64_t source = 0;
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::int64_t size = data->dims()[k];
      std::int64_t index = static_cast<std::int64_t>(i) / over[k] % at->dims()[k];
      if (k == *axis) index = indices[i] < 0 ? indices[i] + size : indices[i];
      if (index < 0 || index >= size) return unsupported("an index beyond the data");
      source += index * from[k];
    }
    map.push_back(source);
  }
  return one(selected(Value(*data), {at->dims(), [map] { return map; }}));
}

Outputs cumulative_sum(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Constant* data, call.constant(0));
  WEIR_ASSIGN_OR_RETURN(const IndexMap given, call.integers(1));
  WEIR_ASSIGN_OR_RETURN(const Constant small, data->small());
  const auto axis = given.size() == 1 ? axis_of(given[0], data->dims().size()) : std::nullopt;
  if (!axis || call.integer("exclusive", 0) != 0 || call.integer("reverse", 0) != 0) {
    return unsupported("another sum than the plain one along an axis");
  }
  Numbers numbers = small.numbers();
  const auto stride = static_cast<std::size_t>(strides_of(data->dims())[*axis]);
  const auto length = static_cast<std::size_t>(data->dims()[*axis]);
  for (std::size_t i = stride; i < numbers.size(); ++i) {
    if (i / stride % length != 0) numbers[i] += numbers[i - stride];
  }
  return one(Value(Constant(data->type(), data->dims(), std::move(numbers))));
}

Outputs triangle(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Constant* data, call.constant(0));
  WEIR_ASSIGN_OR_RETURN(const Constant small, data->small());
  std::int64_t diagonal = 0;
  if (call.has(1)) {
    WEIR_ASSIGN_OR_RETURN(const IndexMap given, call.integers(1));
    if (given.size() == 1) diagonal = given[0];
  }
  if (data->dims().size() < 2 || small.count() == 0) return unsupported("no matrix");
  const auto columns = data->dims().back();
  const auto rows = data->dims()[data->dims().size() - 2];
  Numbers numbers = small.numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / columns % rows;
    const std::int64_t column = static_cast<std::int64_t>(i) % columns;
    const bool above = column - row >= diagonal;
    const bool kept = call.integer("upper", 1) != 0 ? above : !(column - row > diagonal);
    if (!kept) numbers[i] = 0;
  }
  return one(Value(Constant(data->type(), data->dims(), std::move(numbers))));
}

constexpr Handler kHandlers[] = {
    {"Constant", constant},     {"Shape", shape},    {"Size", size},          {"ConstantOfShape", constant_of_shape},
    {"Range", range},           {"Concat", concat},  {"GatherND", gather_nd}, {"GatherElements", gather_elements},
    {"CumSum", cumulative_sum}, {"Trilu", triangle},
};

}  // namespace

std::span<const Handler> index_handlers() { return kHandlers; }

}  // namespace weir::recognize
