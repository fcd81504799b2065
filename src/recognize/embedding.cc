#include "recognize/embedding.h"

#include <algorithm>

namespace weir::recognize {
namespace {

bool equal(const IndexMap& indices, const std::vector<double>& numbers) {
  return std::equal(indices.begin(), indices.end(), numbers.begin(), numbers.end(),
                    [](std::int64_t index, double number) { return static_cast<double>(index) == number; });
}

/// The row of the first position when each token's index is that plus its position. What stands at padding is of no
/// concern: nobody looks there.
std::optional<std::int64_t> first_position(const IndexMap& indices, const Sample& sample) {
  const auto count = static_cast<std::int64_t>(indices.size());
  if (count != Sample::kSequence && count != Sample::kTokens) return std::nullopt;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t position = i % Sample::kSequence;
    if (count == Sample::kTokens && !sample.is_token(i / Sample::kSequence, position)) continue;
    if (indices[static_cast<std::size_t>(i)] != indices[0] + position) return std::nullopt;
  }
  if (indices[0] < 0) return std::nullopt;
  return indices[0];
}

/// Of [tokens] or [sequence] rows of a table.
View embedding_view(const Call& call, Embedding embedding, Dims index_dims) {
  const std::int64_t columns = embedding.table.dims().back();
  Dims dims = embedding.rows == Rows::kPositions ? Dims{Sample::kSequence} : index_dims;
  dims.push_back(columns);
  index_dims.push_back(columns);
  View view = call.make(std::move(embedding), dims);
  view.dims = std::move(index_dims);
  return view;
}

Result<Value> same_row(const Constant& table, std::int64_t row, const Dims& index_dims) {
  const std::int64_t wrapped = row < 0 ? row + table.dims()[0] : row;
  if (wrapped < 0 || wrapped >= table.dims()[0]) return unsupported("a table without row " + std::to_string(row));
  const auto selection = taken(table.dims(), 0, IndexMap{wrapped}, {});
  WEIR_ASSIGN_OR_RETURN(const Constant small, table.selected(*selection).small());
  Dims dims = index_dims;
  dims.push_back(table.dims()[1]);
  const auto repeated = broadcast(small.dims(), dims);
  if (!repeated) return unsupported("rows of shape " + dims_text(dims));
  return Value(small.selected(*repeated));
}

}  // namespace

Result<std::optional<Value>> embedded_rows(const Call& call, const Constant& table, const IndexMap& indices,
                                           const Dims& index_dims) {
  const bool is_table = table.dims().size() == 2 && (is_floating(table.type()) || is_eight_bit(table.type()));
  const bool is_row_list =
      !index_dims.empty() && index_dims.back() == Sample::kSequence && index_dims.size() < kMaxRank;
  if (!is_table || !is_row_list || indices.empty()) return std::optional<Value>();
  const Sample& sample = call.sample();
  if (equal(indices, sample.ids)) return std::optional<Value>(embedding_view(call, {Rows::kWords, table}, index_dims));
  if (equal(indices, sample.types))
    return std::optional<Value>(embedding_view(call, {Rows::kTypes, table}, index_dims));
  const bool is_one_row = std::all_of(indices.begin(), indices.end(), [&](auto index) { return index == indices[0]; });
  if (is_one_row) {
    WEIR_ASSIGN_OR_RETURN(Value rows, same_row(table, indices[0], index_dims));
    return std::optional<Value>(std::move(rows));
  }
  const auto first = first_position(indices, sample);
  if (!first) return std::optional<Value>();
  if (*first > table.dims()[0] - Sample::kSequence) return unsupported("a table of positions that is too short");
  return std::optional<Value>(embedding_view(call, {Rows::kPositions, table, *first}, index_dims));
}

std::optional<Value> sliced_positions(const Call& call, const Value& value, std::size_t axis, const IndexMap& indices) {
  const auto* table = std::get_if<Constant>(&value);
  if (table == nullptr || !is_floating(table->type())) return std::nullopt;
  const Dims& dims = table->dims();
  const bool is_table = (dims.size() == 2 && axis == 0) || (dims.size() == 3 && axis == 1 && dims[0] == 1);
  const auto first = first_position(indices, call.sample());
  if (!is_table || !first || indices.size() != static_cast<std::size_t>(Sample::kSequence)) return std::nullopt;
  Dims index_dims(dims.begin(), dims.end() - 1);
  index_dims.back() = Sample::kSequence;
  const Constant flat = table->selected({{dims[axis], dims.back()}, {}});
  return Value(embedding_view(call, {Rows::kPositions, flat, *first}, std::move(index_dims)));
}

}  // namespace weir::recognize
