// Shapes and index maps: which element of a tensor each element of another comes from.
//
// Values; any thread. Everything that moves elements without changing them (Reshape, Transpose, Slice, Gather, Expand,
// Split …) is a Selection, so that what a chain of them does can be compared with what is expected, however it is
// spelt.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir::recognize {

using Dims = std::vector<std::int64_t>;
using IndexMap = std::vector<std::int64_t>;

/// Tensors that are computed (weights are not) have at most so many elements.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 22;
inline constexpr std::size_t kMaxRank = 8;

/// The number of elements; -1 when a size is negative or the product is beyond any tensor.
std::int64_t element_count(const Dims& dims);
/// "[2, 3]".
std::string dims_text(const Dims& dims);
/// Elements from one index to the next, per axis.
Dims strides_of(const Dims& dims);
/// The shape that two are broadcast to, if they can be.
std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b);
/// From -rank … rank - 1 to 0 … rank - 1.
std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

/// Element i of the result is element map()[i] of the source; without a map, element i.
struct Selection {
  Dims dims;
  std::function<IndexMap()> map;
};

/// Each coordinate of the result adds its own part to the source's index: parts[axis][coordinate].
Selection separable(Dims dims, std::vector<IndexMap> parts);

/// Selections from a tensor of shape `from`. None when the arguments do not fit it.
std::optional<Selection> transposed(const Dims& from, const std::vector<std::int64_t>& permutation);
std::optional<Selection> broadcast(const Dims& from, const Dims& to);
/// The elements of one axis that `indices` names, which may be negative; their shape takes the axis's place.
std::optional<Selection> taken(const Dims& from, std::size_t axis, const IndexMap& indices, const Dims& index_dims);

}  // namespace weir::recognize
