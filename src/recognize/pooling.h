// From token rows to a vector for each text, where a graph does that itself. Pure functions; any thread.
#pragma once

#include <optional>

#include "recognize/call.h"

namespace weir::recognize {

/// Token rows times the mask.
std::optional<Value> masked_rows(const Call& call, const View& view, const Constant& mask);
/// The sum over each text's tokens divided by their number.
std::optional<Value> mean_pooled(const Call& call, const View& view, const Constant& counts);
/// Rows divided by their length, which may be kept from 0.
std::optional<Value> unit_length(const Call& call, const View& rows, const View& length);

}  // namespace weir::recognize
