#include "recognize/dims.h"

#include <algorithm>
#include <utility>

namespace weir::recognize {
namespace {

/// Beyond any file's tensors, and far from overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 40;

IndexMap steps(std::int64_t count, std::int64_t stride) {
  IndexMap part(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<std::int64_t>(i) * stride;
  return part;
}

std::vector<IndexMap> all_steps(const Dims& dims) {
  const Dims strides = strides_of(dims);
  std::vector<IndexMap> parts;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) parts.push_back(steps(dims[axis], strides[axis]));
  return parts;
}

IndexMap combined(const std::vector<IndexMap>& parts) {
  IndexMap map{0};
  for (const IndexMap& part : parts) {
    IndexMap wider;
    wider.reserve(map.size() * part.size());
    for (const std::int64_t outer : map) {
      for (const std::int64_t inner : part) wider.push_back(outer + inner);
    }
    map = std::move(wider);
  }
  return map;
}

}  // namespace

std::int64_t element_count(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    if (size < 0 || (size != 0 && count > kMost / size)) return -1;
    count *= size;
  }
  return count;
}

std::string dims_text(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t size : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims dims(rank);
  for (std::size_t i = 1; i <= rank; ++i) {
    const std::int64_t left = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t right = i <= b.size() ? b[b.size() - i] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    dims[rank - i] = left == 1 ? right : left;
  }
  return dims;
}

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

Selection separable(Dims dims, std::vector<IndexMap> parts) {
  return {std::move(dims), [parts = std::move(parts)] { return combined(parts); }};
}

std::optional<Selection> transposed(const Dims& from, const std::vector<std::int64_t>& permutation) {
  if (permutation.size() != from.size()) return std::nullopt;
  std::vector<IndexMap> parts = all_steps(from);
  std::vector<IndexMap> moved;
  std::vector<bool> used(from.size(), false);
  Dims dims;
  for (const std::int64_t axis : permutation) {
    const auto at = axis_of(axis, from.size());
    if (!at || used[*at]) return std::nullopt;
    used[*at] = true;
    dims.push_back(from[*at]);
    moved.push_back(parts[*at]);
  }
  return separable(std::move(dims), std::move(moved));
}

std::optional<Selection> broadcast(const Dims& from, const Dims& to) {
  const auto dims = broadcast_dims(from, to);
  if (!dims || element_count(*dims) < 0 || element_count(*dims) > kMaxElements) return std::nullopt;
  const Dims strides = strides_of(from);
  std::vector<IndexMap> parts;
  for (std::size_t axis = 0; axis < dims->size(); ++axis) {
    const std::size_t missing = dims->size() - from.size();
    const bool moves = axis >= missing && from[axis - missing] != 1;
    parts.push_back(steps((*dims)[axis], moves ? strides[axis - missing] : 0));
  }
  return separable(*dims, std::move(parts));
}

std::optional<Selection> taken(const Dims& from, std::size_t axis, const IndexMap& indices, const Dims& index_dims) {
  std::vector<IndexMap> parts = all_steps(from);
  const std::int64_t stride = strides_of(from)[axis];
  IndexMap part;
  for (const std::int64_t index : indices) {
    const std::int64_t wrapped = index < 0 ? index + from[axis] : index;
    if (wrapped < 0 || wrapped >= from[axis]) return std::nullopt;
    part.push_back(wrapped * stride);
  }
  parts[axis] = std::move(part);
  Dims dims = from;
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(at, index_dims.begin(), index_dims.end());
  if (dims.size() > kMaxRank) return std::nullopt;
  return separable(std::move(dims), std::move(parts));
}

}  // namespace weir::recognize
