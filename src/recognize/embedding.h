// Rows looked up in tables of weights, told apart by what the lookup's indices are for the sample inputs. Pure
// functions; any thread.
#pragma once

#include <optional>

#include "recognize/call.h"

namespace weir::recognize {

/// Rows of a table [rows, columns]: words, token types, positions, or a constant where all indices are the same.
/// Nothing when the indices are none of these. kUnsupported: a table that lacks the rows.
Result<std::optional<Value>> embedded_rows(const Call& call, const Constant& table, const IndexMap& indices,
                                           const Dims& index_dims);

/// The slice of a table of positions, [rows, columns] or [1, rows, columns], as long as the sample's texts.
std::optional<Value> sliced_positions(const Call& call, const Value& value, std::size_t axis, const IndexMap& indices);

}  // namespace weir::recognize
