#include <algorithm>
#include <limits>

#include "recognize/embedding.h"
#include "recognize/handlers.h"

namespace weir::recognize {
namespace {

Result<const Dims*> input_dims(const Call& call, std::size_t index = 0) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(index));
  const Dims* dims = dims_of(*value);
  if (dims == nullptr) return unsupported("an input without a shape");
  return dims;
}

Outputs reshaped(const Call& call, Dims dims) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  if (element_count(dims) != element_count(*from)) {
    return unsupported("a reshape from " + dims_text(*from) + " to " + dims_text(dims));
  }
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  return one(selected(*value, {std::move(dims), {}}));
}

Outputs chosen(const Call& call, const std::optional<Selection>& selection) {
  if (!selection) return unsupported("arguments that do not fit the input's shape");
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  return one(selected(*value, *selection));
}

Outputs identity(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  std::vector<Value> outputs{*value};
  // Dropout's mask is of no use to anyone after training.
  while (outputs.size() < call.node().outputs.size() && outputs.size() < 2) outputs.push_back(Unknown{});
  return outputs;
}

Outputs cast(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  const auto* constant = std::get_if<Constant>(value);
  if (constant == nullptr) return identity(call);
  const DataType type = onnx::data_type_of(call.integer("to", 0));
  if (type == DataType::kOther) return unsupported("a type that is not known");
  return one(Value(constant->as(type)));
}

Outputs cast_like(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const Value* like, call.value(1));
  const auto* constant = std::get_if<Constant>(value);
  if (constant == nullptr) return identity(call);
  const auto* other = std::get_if<Constant>(like);
  return one(Value(constant->as(other != nullptr ? other->type() : DataType::kFloat)));
}

Outputs reshape(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  WEIR_ASSIGN_OR_RETURN(const auto target, call.integers("shape", 1));
  if (!target || target->size() > kMaxRank) return unsupported("no shape to reshape to");
  Dims dims = *target;
  std::int64_t known = 1;
  std::optional<std::size_t> free;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 0 && call.integer("allowzero", 0) == 0) {
      if (axis >= from->size()) return unsupported("a size of 0 without an axis to copy it from");
      dims[axis] = (*from)[axis];
    }
    if (dims[axis] == -1 && !free) {
      free = axis;
    } else if (dims[axis] < 0 || dims[axis] > kMaxElements) {
      return unsupported("a reshape to " + dims_text(dims));
    } else if (known <= std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(dims[axis], 1)) {
      known *= dims[axis];
    }
  }
  if (free) dims[*free] = known > 0 ? element_count(*from) / known : 0;
  return reshaped(call, std::move(dims));
}

Outputs flatten(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  std::int64_t axis = call.integer("axis", 1);
  if (axis < 0) axis += static_cast<std::int64_t>(from->size());
  if (axis < 0 || axis > static_cast<std::int64_t>(from->size())) return unsupported("an axis that is not there");
  const Dims head(from->begin(), from->begin() + axis);
  const Dims tail(from->begin() + axis, from->end());
  return reshaped(call, {element_count(head), element_count(tail)});
}

Outputs squeeze(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  WEIR_ASSIGN_OR_RETURN(const auto axes, call.integers("axes", 1));
  std::vector<bool> removed(from->size(), false);
  for (std::size_t axis = 0; axis < from->size() && !axes; ++axis) removed[axis] = (*from)[axis] == 1;
  for (const std::int64_t axis : axes.value_or(IndexMap())) {
    const auto at = axis_of(axis, from->size());
    if (!at || (*from)[*at] != 1) return unsupported("an axis to squeeze that is not of size 1");
    removed[*at] = true;
  }
  Dims dims;
  for (std::size_t axis = 0; axis < from->size(); ++axis) {
    if (!removed[axis]) dims.push_back((*from)[axis]);
  }
  return reshaped(call, std::move(dims));
}

Outputs unsqueeze(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  WEIR_ASSIGN_OR_RETURN(const auto axes, call.integers("axes", 1));
  if (!axes || from->size() + axes->size() > kMaxRank) return unsupported("no axes, or too many");
  std::vector<bool> is_new(from->size() + axes->size(), false);
  for (const std::int64_t axis : *axes) {
    const auto at = axis_of(axis, is_new.size());
    if (!at || is_new[*at]) return unsupported("an axis that is not there");
    is_new[*at] = true;
  }
  Dims dims;
  std::size_t next = 0;
  for (const bool added : is_new) dims.push_back(added ? 1 : (*from)[next++]);
  return reshaped(call, std::move(dims));
}

Outputs transpose(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  IndexMap permutation;
  for (std::size_t axis = from->size(); axis-- > 0;) permutation.push_back(static_cast<std::int64_t>(axis));
  WEIR_ASSIGN_OR_RETURN(const auto given, call.integers("perm", std::numeric_limits<std::size_t>::max()));
  return chosen(call, transposed(*from, given.value_or(permutation)));
}

Outputs expand(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  WEIR_ASSIGN_OR_RETURN(const IndexMap to, call.integers(1));
  const bool fits = to.size() <= kMaxRank && element_count(to) >= 0;
  if (!fits) return unsupported("an expansion to " + dims_text(to));
  return chosen(call, broadcast(*from, to));
}

struct Range {
  std::int64_t start;
  std::int64_t end;
  std::int64_t step;
};

IndexMap indices_of(Range range, std::int64_t size) {
  const std::int64_t last = range.step > 0 ? size : size - 1;
  const std::int64_t first = range.step > 0 ? 0 : -1;
  if (range.start < 0) range.start = std::max(range.start, -size - 1) + size;
  if (range.end < 0) range.end = std::max(range.end, -size - 1) + size;
  range.start = std::clamp(range.start, std::int64_t{0}, last);
  range.end = std::clamp(range.end, first, size);
  IndexMap indices;
  // Steps beyond the size would overflow on their way out of it.
  const std::int64_t step = std::clamp(range.step, -size - 1, size + 1);
  for (std::int64_t i = range.start; range.step > 0 ? i < range.end : i > range.end; i += step) indices.push_back(i);
  return indices;
}

Outputs slice(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const auto starts, call.integers("starts", 1));
  WEIR_ASSIGN_OR_RETURN(const auto ends, call.integers("ends", 2));
  WEIR_ASSIGN_OR_RETURN(auto axes, call.integers("axes", 3));
  WEIR_ASSIGN_OR_RETURN(auto steps, call.integers("steps", 4));
  if (!starts || !ends || starts->size() != ends->size()) return unsupported("no starts and ends");
  if (!steps) steps = IndexMap(starts->size(), 1);
  if (!axes) {
    axes = IndexMap();
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (axes->size() != starts->size() || steps->size() != starts->size()) return unsupported("unequal lists");
  WEIR_ASSIGN_OR_RETURN(const Value* given, call.value(0));
  Value value = *given;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const Dims dims = *dims_of(value);
    const auto axis = axis_of((*axes)[i], dims.size());
    if (!axis || (*steps)[i] == 0) return unsupported("an axis or step that does not fit");
    const IndexMap indices = indices_of({(*starts)[i], (*ends)[i], (*steps)[i]}, dims[*axis]);
    if (const auto positions = sliced_positions(call, value, *axis, indices)) {
      value = *positions;
      continue;
    }
    const auto selection = taken(dims, *axis, indices, {static_cast<std::int64_t>(indices.size())});
    if (!selection) return unsupported("a slice beyond " + dims_text(dims));
    WEIR_ASSIGN_OR_RETURN(value, selected(value, *selection));
  }
  return one(std::move(value));
}

Outputs gather(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  WEIR_ASSIGN_OR_RETURN(const Dims* index_dims, input_dims(call, 1));
  WEIR_ASSIGN_OR_RETURN(const IndexMap indices, call.integers(1));
  const auto axis = axis_of(call.integer("axis", 0), from->size());
  if (!axis) return unsupported("an axis that is not there");
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  if (const auto* table = std::get_if<Constant>(value); table != nullptr && *axis == 0) {
    WEIR_ASSIGN_OR_RETURN(const auto embedded, embedded_rows(call, *table, indices, *index_dims));
    if (embedded) return one(*embedded);
  }
  return chosen(call, taken(*from, *axis, indices, *index_dims));
}

Outputs tile(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* given, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const IndexMap repeats, call.integers(1));
  Value value = *given;
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  if (repeats.size() != from->size()) return unsupported("a repeat for each axis is needed");
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    const Dims dims = *dims_of(value);
    if (repeats[axis] < 0 || repeats[axis] > kMaxElements || dims[axis] * repeats[axis] > kMaxElements) {
      return unsupported("too many repeats");
    }
    IndexMap indices;
    for (std::int64_t i = 0; i < dims[axis] * repeats[axis]; ++i) indices.push_back(i % dims[axis]);
    const auto selection = taken(dims, axis, indices, {static_cast<std::int64_t>(indices.size())});
    if (!selection) return unsupported("repeats that do not fit");
    WEIR_ASSIGN_OR_RETURN(value, selected(value, *selection));
  }
  return one(std::move(value));
}

Result<IndexMap> split_sizes(const Call& call, std::int64_t size) {
  WEIR_ASSIGN_OR_RETURN(const auto given, call.integers("split", 1));
  if (given) return *given;
  const auto parts = static_cast<std::int64_t>(call.node().outputs.size());
  if (parts == 0) return unsupported("no outputs");
  const std::int64_t each = (size + parts - 1) / parts;
  IndexMap sizes(static_cast<std::size_t>(parts), each);
  sizes.back() = size - each * (parts - 1);
  return sizes;
}

Outputs split(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Dims* from, input_dims(call));
  const auto axis = axis_of(call.integer("axis", 0), from->size());
  if (!axis) return unsupported("an axis that is not there");
  WEIR_ASSIGN_OR_RETURN(const IndexMap sizes, split_sizes(call, (*from)[*axis]));
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  std::vector<Value> outputs;
  std::int64_t next = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > (*from)[*axis] - next) return unsupported("parts larger than the whole");
    IndexMap indices;
    for (std::int64_t i = 0; i < size; ++i) indices.push_back(next + i);
    next += size;
    const auto selection = taken(*from, *axis, indices, {size});
    if (!selection) return unsupported("parts that do not fit");
    WEIR_ASSIGN_OR_RETURN(Value part, selected(*value, *selection));
    outputs.push_back(std::move(part));
  }
  return outputs;
}

constexpr Handler kHandlers[] = {
    {"Identity", identity},   {"Dropout", identity}, {"Cast", cast},       {"CastLike", cast_like},
    {"Reshape", reshape},     {"Flatten", flatten},  {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze},
    {"Transpose", transpose}, {"Expand", expand},    {"Slice", slice},     {"Gather", gather},
    {"Tile", tile},           {"Split", split},
};

}  // namespace

std::span<const Handler> shape_handlers() { return kHandlers; }

}  // namespace weir::recognize
